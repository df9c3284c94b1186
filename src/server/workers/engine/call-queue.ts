import { ApiError } from "../../../shared/api-error.js";
import type { WorkerCall } from "./worker-call.js";

/** Maximum number of calls that wait for one version. Above this number, the daemon responds with 503 and `Retry-After`. */
const mostWaiting = 1024;

/** Calls that wait for an isolate, in order of arrival. */
export class CallQueue {
  #calls: WorkerCall[] = [];

  /** Number of waiting calls, including calls whose client has disconnected. */
  get length(): number {
    return this.#calls.length;
  }

  /** Number of waiting calls whose client is still connected. */
  get wantedCount(): number {
    return this.#calls.filter((call) => !call.isDone).length;
  }

  get isFull(): boolean {
    return this.#calls.length >= mostWaiting;
  }

  /** Returns whether the client of at least one waiting call is still connected. */
  isWanted(): boolean {
    return this.#calls.some((call) => !call.isDone);
  }

  push(call: WorkerCall): void {
    this.#calls.push(call);
  }

  /** Removes and returns the next call whose client is still connected. */
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

  /** Fails the calls whose deadline is before `nowMs`, by the clock of `performance.now()`. */
  expire(nowMs: number, toError: (call: WorkerCall) => ApiError): void {
    for (const call of this.#calls.filter((waiting) => !waiting.isDone && nowMs > waiting.deadlineMs)) call.fail(toError(call));
    this.#calls = this.#calls.filter((call) => !call.isDone);
  }
}

export function saturated(): ApiError {
  return new ApiError("WORKER_POOL_SATURATED", "Too many requests are waiting for this worker. Retry after 1 second.", {
    retryAfterSeconds: 1,
  });
}
