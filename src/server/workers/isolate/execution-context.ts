import { setImmediate } from "node:timers";

/** Counts the promises of `waitUntil` that have not settled. Reports the count to the daemon at most once per turn of the event loop. */
export class BackgroundWork {
  #pending = 0;
  #reportedPending = 0;
  #isScheduled = false;
  readonly #reportPending: (pending: number) => void;
  readonly #report: (error: unknown) => void;

  constructor(options: { reportPending: (pending: number) => void; report: (error: unknown) => void }) {
    this.#reportPending = options.reportPending;
    this.#report = options.report;
  }

  add(promise: unknown): void {
    this.#pending += 1;
    if (this.#reportedPending === 0) {
      // Reports the first promise in the same write as the response. Otherwise the daemon could stop a draining isolate before the promise
      // settles.
      this.#reportedPending = this.#pending;
      this.#reportPending(this.#pending);
    } else this.#schedule();
    void this.#settle(promise);
  }

  /** Reports later changes once per turn of the event loop, because many short promises would cause too many frames. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#pending === this.#reportedPending) return;
      this.#reportedPending = this.#pending;
      this.#reportPending(this.#pending);
    });
  }

  async #settle(promise: unknown): Promise<void> {
    try {
      await promise;
    } catch (error) {
      this.#report(error);
    }
    this.#pending -= 1;
    this.#schedule();
  }
}

/** The third parameter `ctx` of a worker's `fetch(request, env, ctx)`. */
export class ExecutionContext {
  readonly #work: BackgroundWork;

  constructor(work: BackgroundWork) {
    this.#work = work;
  }

  /**
   * Registers a promise. The isolate runs until the promise settles, and logs a rejection. A getter makes `const { waitUntil } = ctx` work
   * as in other runtimes.
   */
  get waitUntil(): (promise: unknown) => void {
    return (promise) => this.#work.add(promise);
  }

  /** Has no effect, because a worker has no origin server. Modules for other runtimes call this function. */
  passThroughOnException(): void {}
}
