const smallFramesPerSecond = 20_000;

/** Limits the rate of frames that are free for an isolate to send: a flood of them would occupy the daemon. */
export class FloodLimiter {
  #count = 0;
  #sinceMs = performance.now();

  /** Counts a frame. Throws when one second exceeds the limit. */
  count(): void {
    this.#count += 1;
    if (this.#count < smallFramesPerSecond) return;
    const now = performance.now();
    if (now - this.#sinceMs < 1000) throw new Error("the isolate exceeded the frame rate limit of its channel");
    this.#count = 0;
    this.#sinceMs = now;
  }
}
