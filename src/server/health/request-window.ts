/** Length in milliseconds of the time window in which the daemon counts requests. */
const windowMs = 60_000;
/** Minimum time in milliseconds between two stored samples of the counters. The health monitor also reads the counters at this interval. */
export const sampleEveryMs = 5000;

/** Request counters of a worker version. All except `inFlightCount` only increase. */
export interface RequestCounters {
  readonly endedCount: number;
  readonly inFlightCount: number;
  /** `failedCount`: number of responses that had a status of 500 or above or were incomplete. */
  readonly latency: { readonly failedCount: number };
  /**
   * Returns the number of requests that ended with a status whose first digit is `digit`. The digit 0 stands for a client that disconnected
   * before the response.
   */
  countOf(digit: 0): number;
}

interface Sample {
  readonly atMs: number;
  readonly ended: number;
  readonly failed: number;
}

/** Numbers of requests in the last minute. */
export interface RecentRequests {
  readonly requests: number;
  readonly failed: number;
  /** Number of failed requests since the last successful request. Includes requests that are older than one minute. */
  readonly failedInRow: number;
}

/**
 * Computes the requests of one worker version in the last minute from samples of the version's counters. Times are in milliseconds on the
 * clock of `performance.now()`.
 */
export class RequestWindow {
  /**
   * Samples of the counters, oldest first. The first sample is the newest of the samples that are at least one minute old. Without such a
   * sample, the first sample is the sample that the constructor took.
   */
  #samples: [Sample, ...Sample[]];
  #succeeded: number;
  #failed: number;
  #failedInRow = 0;

  /** Creates a window that counts only requests that end after this call. */
  constructor(counters: RequestCounters | undefined, nowMs: number) {
    const sample = sampleOf(counters, nowMs);
    this.#samples = [sample];
    this.#failed = sample.failed;
    this.#succeeded = succeededCount(counters);
  }

  /** Takes a sample of the counters. Returns true if a request has succeeded since the last sample. */
  update(counters: RequestCounters, nowMs: number): boolean {
    const sample = sampleOf(counters, nowMs);
    const succeeded = succeededCount(counters);
    const hasSuccess = succeeded > this.#succeeded;
    this.#failedInRow = hasSuccess ? 0 : this.#failedInRow + sample.failed - this.#failed;
    this.#succeeded = succeeded;
    this.#failed = sample.failed;
    this.#keep(sample);
    return hasSuccess;
  }

  /** Returns the numbers of requests in the minute that ended with the last call of `update`. */
  get recent(): RecentRequests {
    const [first] = this.#samples;
    const last = this.#samples.at(-1) as Sample;
    return { requests: last.ended - first.ended, failed: last.failed - first.failed, failedInRow: this.#failedInRow };
  }

  #keep(sample: Sample): void {
    const [first, ...others] = this.#samples;
    const last = others.at(-1);
    // If the last stored sample is less than 5 s newer than the sample before it, the new sample replaces the last stored sample.
    const before = others.at(-2) ?? first;
    const kept = last && last.atMs - before.atMs < sampleEveryMs ? [first, ...others.slice(0, -1), sample] : [first, ...others, sample];
    while (kept.length > 1 && (kept[1] as Sample).atMs <= sample.atMs - windowMs) kept.shift();
    this.#samples = kept as [Sample, ...Sample[]];
  }
}

function sampleOf(counters: RequestCounters | undefined, atMs: number): Sample {
  return { atMs, ended: counters?.endedCount ?? 0, failed: counters?.latency.failedCount ?? 0 };
}

function succeededCount(counters: RequestCounters | undefined): number {
  if (!counters) return 0;
  return counters.endedCount - counters.countOf(0) - counters.latency.failedCount;
}
