/** Runs work for one key in the order in which it was asked for, one at a time; different keys do not wait for each other. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const running = before.then(work);
    // The next in line waits for the end, not for success.
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
