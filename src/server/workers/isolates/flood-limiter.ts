const smallFramesPerSecond = 20_000;

/** Limits the rate of frames that need no credit. Without the limit, an isolate could occupy the daemon with them. */
export class FloodLimiter {
  #count = 0;
  #sinceMs = performance.now();

  /** Counts a frame. Throws when more frames than the limit arrive within one second. */
  count(): void {
    this.#count += 1;
    if (this.#count < smallFramesPerSecond) return;
    const now = performance.now();
    if (now - this.#sinceMs < 1000) throw new Error("the isolate exceeded the frame rate limit of its channel");
    this.#count = 0;
    this.#sinceMs = now;
  }
}
