const firstDelayMs = 200;
const longestDelayMs = 30_000;
/** So many failures in a row cost nothing: a worker that crashes now and then is back at once. */
const freeFailures = 2;
/** A worker that lived this long starts over with a clean record. */
const forgivenAfterMs = 60_000;

/** Keeps a worker that dies again and again from keeping the machine busy with its restarts. */
export class CrashBackOff {
  #failures = 0;
  #lastFailureMs = 0;
  #blockedUntilMs = 0;

  noteFailure(nowMs: number): void {
    if (nowMs - this.#lastFailureMs > forgivenAfterMs) this.#failures = 0;
    this.#failures += 1;
    this.#lastFailureMs = nowMs;
    const excess = this.#failures - freeFailures;
    this.#blockedUntilMs = excess <= 0 ? nowMs : nowMs + Math.min(longestDelayMs, firstDelayMs * 2 ** (excess - 1));
  }

  /** It was restarted by hand, by somebody who knows why. */
  forgive(): void {
    this.#failures = 0;
    this.#blockedUntilMs = 0;
  }

  /** Milliseconds until it may be started again; 0 = now. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#blockedUntilMs - nowMs);
  }
}
