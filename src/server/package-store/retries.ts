import { setTimeout as delay } from "node:timers/promises";

/** Pauses in ms before the next attempts. The last pause repeats. */
const pausesMs = [1_000, 2_000, 5_000, 10_000, 30_000];

/** Repeats a failed attempt for a package until it succeeds or the daemon stops. */
export class Retries {
  readonly #attempt: (name: string) => Promise<boolean>;
  readonly #signal: AbortSignal;
  readonly #names = new Set<string>();

  /** `attempt` returns false if a later attempt can succeed, and never throws. `signal`: aborted when the daemon stops. */
  constructor(attempt: (name: string) => Promise<boolean>, signal: AbortSignal) {
    this.#attempt = attempt;
    this.#signal = signal;
  }

  /** Starts the first attempt after a pause. Does nothing if attempts for this name already run. */
  async start(name: string): Promise<void> {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    for (let count = 0, isDone = false; !isDone; count += 1) {
      const pauseMs = pausesMs[Math.min(count, pausesMs.length - 1)];
      await delay(pauseMs, undefined, { ref: false, signal: this.#signal }).catch(() => undefined);
      if (this.#signal.aborted) break;
      isDone = await this.#attempt(name);
    }
    this.#names.delete(name);
  }
}
