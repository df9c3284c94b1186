import { setImmediate } from "node:timers";

/** Counts the promises that apps ask to be waited for, and tells the count at most once per turn of the event loop. */
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
      // At once, and so in the same write as the answer that it belongs to: an isolate with nothing to wait for may be let go.
      this.#told = this.#pending;
      this.#tell(this.#pending);
    } else this.#schedule();
    void this.#settle(promise);
  }

  /** Later is early enough for the rest; promises that come and go within a turn would be a flood. */
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

/** The `ctx` of `fetch(request, env, ctx)`. */
export class ExecutionContext {
  readonly #work: BackgroundWork;

  constructor(work: BackgroundWork) {
    this.#work = work;
  }

  /** Keeps the isolate until the promise is settled; its rejection is logged. */
  waitUntil(promise: unknown): void {
    this.#work.add(promise);
  }

  /** There is no origin to pass through to: it exists so that modules written for other runtimes load. */
  passThroughOnException(): void {}
}
