import type { RateLimiterRes } from "rate-limiter-flexible";
import RateLimiterMemory from "rate-limiter-flexible/lib/RateLimiterMemory.js";

export interface LimiterOptions {
  /** Requests within a window. */
  readonly limit: number;
  readonly windowMs: number;
  /** How long one that goes beyond the limit is refused; 0 = until its window ends. */
  readonly blockMs: number;
  /** Whoever was not seen for longest is forgotten, and begins again. */
  readonly mostKeys: number;
}

export interface LimiterState {
  readonly isRefused: boolean;
  readonly remaining: number;
  /** Until the window, or the refusal, ends. */
  readonly resetMs: number;
}

/** Counts by key, in windows that begin with a key's first request, for a bounded number of keys. */
export class BoundedLimiter {
  readonly #limiter: RateLimiterMemory;
  readonly #mostKeys: number;
  readonly #longestMs: number;
  /** When a key was last seen, the longest ago first. */
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

  /** Ends the timers that hold what was counted. */
  clear(): void {
    for (const key of this.#lastSeen.keys()) void this.#limiter.delete(key);
    this.#lastSeen.clear();
  }

  /** Two at each request, so that what is over goes sooner than new ones come. */
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
