import { describeError } from "./describe-error.js";

/** Counts the promises that apps ask to be waited for, and tells the count at most once per turn of the event loop. */
export class BackgroundWork {
  #pending = 0;
  #told = 0;
  #isScheduled = false;
  readonly #tell: (pending: number) => void;

  constructor(tell: (pending: number) => void) {
    this.#tell = tell;
  }

  add(promise: unknown): void {
    this.#change(1);
    void this.#settle(promise);
  }

  #change(by: number): void {
    this.#pending += by;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A microtask: the count leaves in the same write as the answer that it belongs to.
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#pending !== this.#told) this.#tell(this.#pending);
      this.#told = this.#pending;
    });
  }

  async #settle(promise: unknown): Promise<void> {
    try {
      await promise;
    } catch (error) {
      process.stderr.write(`${describeError(error)}\n`);
    }
    this.#change(-1);
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
