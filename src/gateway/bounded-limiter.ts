import type { RateLimiterRes } from "rate-limiter-flexible";
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";

export interface LimiterOptions {
  /** Maximum number of allowed requests for one key in a window. */
  readonly limit: number;
  readonly windowMs: number;
  /** Time for which the requests of a key are rejected after the key exceeds the limit. 0 means until the window ends. */
  readonly blockMs: number;
  /** Maximum number of tracked keys. Above this number, the count of the least recently seen key is deleted. */
  readonly mostKeys: number;
}

export interface LimiterState {
  readonly isRefused: boolean;
  readonly remaining: number;
  /** Time in ms until the window or the rejection ends. */
  readonly resetMs: number;
}

/**
 * Counts requests per key, such as a client's address, in fixed windows, which begin with the first request of a key. Tracks a limited
 * number of keys.
 */
export class BoundedLimiter {
  readonly #limiter: RateLimiterMemory;
  readonly #mostKeys: number;
  readonly #longestMs: number;
  /** Time of the last request for each key, oldest first. */
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

  /** Deletes up to two keys per request, so that expired keys are deleted faster than new keys arrive. */
  #dropOldest(now: number): void {
    let looked = 0;
    for (const [key, seenAt] of this.#lastSeen) {
      const isOver = now - seenAt > this.#longestMs;
      if (looked === 2 || (!isOver && this.#lastSeen.size <= this.#mostKeys)) return;
      this.#lastSeen.delete(key);
      void this.#limiter.delete(key);
      looked += 1;
    }
  }
}

function toAllowed({ remainingPoints, msBeforeNext }: RateLimiterRes): LimiterState {
  return { isRefused: false, remaining: remainingPoints, resetMs: Math.max(0, msBeforeNext) };
}

function toRefused(refusal: RateLimiterRes): LimiterState {
  return { ...toAllowed(refusal), isRefused: true };
}
