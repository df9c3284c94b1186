import { ApiError } from "../../../shared/api-error.js";
import { setStallTolerantInterval } from "../../platform/stall-tolerant-interval.js";
import { saturated, type CallQueue } from "./call-queue.js";
import type { IsolateSet } from "../isolates/isolate-set.js";
import type { IsolateProcess } from "../isolates/isolate-process.js";
import type { IsolateStarter } from "../isolates/isolate-starter.js";
import type { WorkerCall } from "./worker-call.js";

const shortestIntervalMs = 20;
const longestIntervalMs = 500;

/**
 * Checks the calls of one version at an interval. Fails calls after their deadline and kills blocked isolates. The timer runs only while
 * the version has calls.
 */
export class DeadlineSweep {
  readonly #receiving: Set<WorkerCall>;
  readonly #queue: CallQueue;
  readonly #isolateSet: IsolateSet;
  readonly #starter: IsolateStarter;
  readonly #onSwept: () => void;
  readonly #intervalMs: number;
  #end: (() => void) | undefined;

  /**
   * `receiving` contains the calls whose small request body is not complete. The sweep removes a call from this set when the body is
   * complete.
   */
  constructor(options: {
    receiving: Set<WorkerCall>;
    queue: CallQueue;
    isolateSet: IsolateSet;
    starter: IsolateStarter;
    timeoutMs: number;
    onSwept: () => void;
  }) {
    this.#receiving = options.receiving;
    this.#queue = options.queue;
    this.#isolateSet = options.isolateSet;
    this.#starter = options.starter;
    this.#onSwept = options.onSwept;
    this.#intervalMs = Math.min(longestIntervalMs, Math.max(shortestIntervalMs, options.timeoutMs / 10));
  }

  /** Starts the timer if it is not running. Call this function after each new call of the worker. */
  wake(): void {
    this.#end ??= setStallTolerantInterval(this.#intervalMs, this.#sweep);
  }

  readonly #sweep = (nowMs: number): void => {
    const { isWaitingForPool } = this.#starter;
    // Extends the deadline of waiting calls while an isolate starts, by two start timeouts: one for the process and one for the module.
    // Does not extend the deadline while the start waits because the pool is full.
    const graceMs = isWaitingForPool || !this.#isolateSet.isStarting ? 0 : 2 * this.#starter.timeoutMs;
    this.#queue.expire(nowMs - graceMs, (call) => (isWaitingForPool && this.#isolateSet.isEmpty ? saturated() : timedOut(call)));
    for (const call of this.#receiving) {
      if (call.isStalled(nowMs)) call.fail(stalled(call));
      if (!call.isReceiving) this.#receiving.delete(call);
    }
    this.#onSwept();
    let isBusy = this.#isolateSet.scale(nowMs) || this.#queue.length > 0 || this.#receiving.size > 0;
    for (const isolate of this.#isolateSet) {
      this.#sweepIsolate(isolate, nowMs);
      isBusy ||= isolate.calls.runningCount > 0 || isolate.isSilent;
    }
    if (isBusy) return;
    this.#end?.();
    this.#end = undefined;
  };

  #sweepIsolate(isolate: IsolateProcess, nowMs: number): void {
    for (const call of isolate.calls) {
      if (!call.waitsForIsolate && call.isStalled(nowMs)) call.fail(stalled(call));
      else if (nowMs <= call.deadlineMs) continue;
      else if (call.waitsForIsolate) call.fail(timedOut(call));
      else call.postpone(nowMs);
    }
    isolate.killIfBlocked(nowMs, this.#queue.length > 0);
  }
}

function timedOut(call: WorkerCall): ApiError {
  return new ApiError("WORKER_TIMEOUT", `The worker did not respond within ${call.timeoutMs} ms.`);
}

function stalled(call: WorkerCall): ApiError {
  return new ApiError("WORKER_TIMEOUT", `No byte of the request or its response was transferred within ${call.stallTimeoutMs} ms.`);
}
