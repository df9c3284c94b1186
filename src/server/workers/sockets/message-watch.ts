import { setStallTolerantInterval } from "../../platform/stall-tolerant-interval.js";
import { messageTimeoutMs } from "./socket-limits.js";

const checkIntervalMs = 1000;

/** What the watch needs of the isolate. */
export interface Watched {
  /** When something last came from it, on the clock of `performance.now()`. */
  heardMs(): number;
  /** Has it asked whether its event loop turns. */
  ask(deadlineMs: number): void;
  /** Kills it when it is past the deadline; true while its answer is owed. */
  sweep(nowMs: number): boolean;
}

/** Finds isolates whose app blocks on a message: no call is open then whose timeout would. */
export class MessageWatch {
  readonly #isolate: Watched;
  #end: (() => void) | undefined;
  #askedMs: number | undefined;
  #messageMs = 0;

  constructor(isolate: Watched) {
    this.#isolate = isolate;
  }

  /** A message went to it. */
  onMessage(): void {
    if (this.#end) return;
    this.#messageMs = performance.now();
    this.#askedMs = undefined;
    this.#end = setStallTolerantInterval(checkIntervalMs, this.#check);
  }

  readonly #check = (nowMs: number): void => {
    if (this.#askedMs === undefined && this.#isolate.heardMs() < this.#messageMs) {
      this.#askedMs = nowMs;
      this.#isolate.ask(this.#messageMs + messageTimeoutMs);
      return;
    }
    if (this.#askedMs !== undefined && this.#isolate.sweep(nowMs)) return;
    this.#end?.();
    this.#end = undefined;
  };
}
