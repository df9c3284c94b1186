import { describeError } from "./describe-error.js";

/** Counts the promises that apps ask to be waited for. */
export class BackgroundWork {
  #pending = 0;
  readonly #onChange: (pending: number) => void;

  constructor(onChange: (pending: number) => void) {
    this.#onChange = onChange;
  }

  add(promise: unknown): void {
    this.#pending += 1;
    this.#onChange(this.#pending);
    void this.#settle(promise);
  }

  async #settle(promise: unknown): Promise<void> {
    try {
      await promise;
    } catch (error) {
      process.stderr.write(`${describeError(error)}\n`);
    }
    this.#pending -= 1;
    this.#onChange(this.#pending);
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
