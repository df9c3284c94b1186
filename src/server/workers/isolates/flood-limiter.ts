const smallFramesPerSecond = 20_000;

/** Counts frames that cost an isolate nothing to send: a flood of them would keep the daemon busy. */
export class FloodLimiter {
  #count = 0;
  #sinceMs = performance.now();

  /** Throws when too many came within a second. */
  count(): void {
    this.#count += 1;
    if (this.#count < smallFramesPerSecond) return;
    const now = performance.now();
    if (now - this.#sinceMs < 1000) throw new Error("it flooded its channel");
    this.#count = 0;
    this.#sinceMs = now;
  }
}
