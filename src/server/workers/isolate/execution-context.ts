import { setImmediate } from "node:timers";

/** Counts the pending promises of `waitUntil` and reports the count at most once per turn of the event loop. */
export class BackgroundWork {
  #pending = 0;
  #told = 0;
  #isScheduled = false;
  readonly #tell: (pending: number) => void;
  readonly #report: (error: unknown) => void;

  constructor(options: { tell: (pending: number) => void; report: (error: unknown) => void }) {
    this.#tell = options.tell;
    this.#report = options.report;
  }

  add(promise: unknown): void {
    this.#pending += 1;
    if (this.#told === 0) {
      // Reports the first promise immediately, in the same write as the response. Otherwise the daemon could stop a draining isolate with
      // pending work.
      this.#told = this.#pending;
      this.#tell(this.#pending);
    } else this.#schedule();
    void this.#settle(promise);
  }

  /** Reports later changes once per event loop turn, because short-lived promises would cause too many frames. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#pending === this.#told) return;
      this.#told = this.#pending;
      this.#tell(this.#pending);
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

/** The parameter `ctx` of a worker's `fetch(request, env, ctx)`. */
export class ExecutionContext {
  readonly #work: BackgroundWork;

  constructor(work: BackgroundWork) {
    this.#work = work;
  }

  /**
   * Registers a promise: the isolate keeps running until the promise settles, and logs a rejection. This member is a getter, so that `({
   * waitUntil })` works as on other runtimes.
   */
  get waitUntil(): (promise: unknown) => void {
    return (promise) => this.#work.add(promise);
  }

  /** Has no effect because a worker has no origin server. Exists so that modules for other runtimes load. */
  passThroughOnException(): void {}
}
