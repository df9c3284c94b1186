import type { RateLimiterRes } from "rate-limiter-flexible";
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";

export interface LimiterOptions {
  /** Maximum number of requests that the limiter allows in one window for each rate limit key, such as the address of a client. */
  readonly limit: number;
  readonly windowMs: number;
  /**
   * Time in ms for which the limiter rejects all requests of a rate limit key that has exceeded the limit. 0 means until the window ends.
   */
  readonly blockMs: number;
  /**
   * Maximum number of rate limit keys that the limiter tracks. Above this number, it deletes the count of the key with the oldest last
   * request.
   */
  readonly mostKeys: number;
}

export interface LimiterState {
  readonly isRefused: boolean;
  readonly remaining: number;
  /** Time in ms until the current window or the current rejection ends. */
  readonly resetMs: number;
}

/**
 * Counts requests in fixed time windows, separately for each rate limit key, such as a client's address. The window of a rate limit key
 * begins with the first request. The number of tracked rate limit keys is limited.
 */
export class BoundedLimiter {
  readonly #limiter: RateLimiterMemory;
  readonly #mostKeys: number;
  readonly #longestMs: number;
  /** Time of the last request by rate limit key. The first entry of the map has the oldest time. */
  readonly #lastSeen = new Map<string, number>();

  constructor({ limit, windowMs, blockMs, mostKeys }: LimiterOptions) {
    this.#limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000, blockDuration: blockMs / 1000, keyPrefix: "" });
    this.#mostKeys = mostKeys;
    this.#longestMs = Math.max(windowMs, blockMs);
  }

  get size(): number {
    return this.#lastSeen.size;
  }

  consume(key: string): Promise<LimiterState> {
    const now = Date.now();
    this.#lastSeen.delete(key);
    this.#lastSeen.set(key, now);
    this.#dropOldest(now);
    return this.#limiter.consume(key).then(toAllowed, toRefused);
  }

  /** Deletes all counts and stops their timers. */
  clear(): void {
    for (const key of this.#lastSeen.keys()) void this.#limiter.delete(key);
    this.#lastSeen.clear();
  }

  /**
   * Deletes at most two rate limit keys: expired keys, and the oldest key above the maximum. Each request adds at most one key, so the
   * number of expired keys shrinks.
   */
  #dropOldest(now: number): void {
    let checked = 0;
    for (const [key, seenAt] of this.#lastSeen) {
      const isOver = now - seenAt > this.#longestMs;
      if (checked === 2 || (!isOver && this.#lastSeen.size <= this.#mostKeys)) return;
      this.#lastSeen.delete(key);
      void this.#limiter.delete(key);
      checked += 1;
    }
  }
}

function toAllowed({ remainingPoints, msBeforeNext }: RateLimiterRes): LimiterState {
  return { isRefused: false, remaining: remainingPoints, resetMs: Math.max(0, msBeforeNext) };
}

function toRefused(refusal: RateLimiterRes): LimiterState {
  return { ...toAllowed(refusal), isRefused: true };
}
