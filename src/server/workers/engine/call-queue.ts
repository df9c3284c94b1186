import { ApiError } from "../../../shared/api-error.js";
import type { WorkerCall } from "./worker-call.js";

/** More wait for one version of a worker only as clients that are told to come back. */
const mostWaiting = 1024;

/** Calls that wait for an isolate, in the order in which they came. */
export class CallQueue {
  #calls: WorkerCall[] = [];

  /** Those that clients gave up included, until somebody comes past them. */
  get length(): number {
    return this.#calls.length;
  }

  /** Those that a client waits for. */
  get wantedCount(): number {
    return this.#calls.filter((call) => !call.isDone).length;
  }

  get isFull(): boolean {
    return this.#calls.length >= mostWaiting;
  }

  /** True while a client waits for one of them. */
  isWanted(): boolean {
    return this.#calls.some((call) => !call.isDone);
  }

  push(call: WorkerCall): void {
    this.#calls.push(call);
  }

  /** The next that a client still waits for. */
  take(): WorkerCall | undefined {
    let call = this.#calls.shift();
    while (call?.isDone) call = this.#calls.shift();
    return call;
  }

  takeAll(): WorkerCall[] {
    return this.#calls.splice(0);
  }

  failAll(error: ApiError): void {
    for (const call of this.takeAll()) call.fail(error);
  }

  /** Fails those whose time is over, on the clock of `performance.now()`. */
  expire(nowMs: number, toError: (call: WorkerCall) => ApiError): void {
    for (const call of this.#calls.filter((waiting) => !waiting.isDone && nowMs > waiting.deadlineMs)) call.fail(toError(call));
    this.#calls = this.#calls.filter((call) => !call.isDone);
  }
}

export function saturated(): ApiError {
  return new ApiError("WORKER_POOL_SATURATED", "Too many requests wait for this worker; try again in a moment.", { retryAfterSeconds: 1 });
}
