/** How many attempts that came to nothing are written: at once, and a second in the long run. */
const burst = 60;
const perSecond = 1;

/** Keeps whoever is refused again and again from filling the audit log, and so from pushing out what others changed. */
export class AttemptLimiter {
  #left = burst;
  #countedAtMs = performance.now();

  admits(): boolean {
    const nowMs = performance.now();
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#countedAtMs) / 1000) * perSecond);
    this.#countedAtMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
