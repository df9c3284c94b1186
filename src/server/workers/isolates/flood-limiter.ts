const smallFramesPerSecond = 20_000;

/** Limits the rate of frames that need no credit. Otherwise one isolate could use all CPU time of the daemon by sending these frames. */
export class FloodLimiter {
  #count = 0;
  #sinceMs = performance.now();

  /** Counts one frame. Throws if the isolate sends 20,000 or more frames within one second. */
  count(): void {
    this.#count += 1;
    if (this.#count < smallFramesPerSecond) return;
    const now = performance.now();
    if (now - this.#sinceMs < 1000) throw new Error("the isolate exceeded the frame rate limit of its channel");
    this.#count = 0;
    this.#sinceMs = now;
  }
}
