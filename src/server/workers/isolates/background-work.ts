/** What `waitUntil` keeps running may hold up the end of a draining isolate for so long. */
const timeoutMs = 30_000;

/** What an app keeps running after its answers, as its isolate counts it. */
export class BackgroundWork {
  #count = 0;
  #limit: NodeJS.Timeout | undefined;

  get isRunning(): boolean {
    return this.#count > 0;
  }

  counted(count: number): void {
    this.#count = count;
  }

  /** Waits no longer than the limit: then nothing counts as running any more, and `onTimeout` is called. */
  limit(onTimeout: () => void): void {
    if (!this.isRunning || this.#limit) return;
    this.#limit = setTimeout(() => {
      this.#count = 0;
      onTimeout();
    }, timeoutMs);
  }

  /** The isolate has ended. */
  end(): void {
    clearTimeout(this.#limit);
  }
}
