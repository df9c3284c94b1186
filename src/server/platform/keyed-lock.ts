/**
 * Runs functions with the same lock name one after another, in the order of the calls. Functions with different lock names run at the same
 * time.
 */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const running = before.then(work);
    // The next function waits until this function has succeeded or failed.
    const ended = running.then(nothing, nothing);
    this.#last.set(key, ended);
    try {
      return await running;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}

function nothing(): void {}
