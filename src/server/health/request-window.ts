/** Length of the window over which requests are counted, in milliseconds. */
const windowMs = 60_000;
/** Minimum time between two samples of the counters, in milliseconds. */
export const sampleEveryMs = 5000;

/** Counters of a worker version, which only grow. */
export interface RequestCounters {
  readonly endedCount: number;
  readonly inFlightCount: number;
  /** `failedCount` counts statuses of 500 or more and incomplete responses. */
  readonly latency: { readonly failedCount: number };
  /** Returns how many requests ended with a status whose first digit is `digit`. 0: the client disconnected before the response. */
  countOf(digit: 0): number;
}

interface Sample {
  readonly atMs: number;
  readonly ended: number;
  readonly failed: number;
}

/** Counts of the requests of the last minute. */
export interface RecentRequests {
  readonly requests: number;
  readonly failed: number;
  /** Number of failed requests since the last request that succeeded. Not limited to the last minute. */
  readonly failedInRow: number;
}

/** The requests of one worker version in the last minute, from samples of its counters. Times are on the clock of `performance.now()`. */
export class RequestWindow {
  /** Samples of the counters, oldest first. The first sample is the last one that is at least one minute old, if there is one. */
  #samples: [Sample, ...Sample[]];
  #succeeded: number;
  #failed: number;
  #failedInRow = 0;

  /** Requests that ended before this call do not count. */
  constructor(counters: RequestCounters | undefined, nowMs: number) {
    const sample = sampleOf(counters, nowMs);
    this.#samples = [sample];
    this.#failed = sample.failed;
    this.#succeeded = succeededCount(counters);
  }

  /** Reads the counters. Returns true if a request has succeeded since the last call. */
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

  /** Returns the counts of the last minute up to the last `update`. */
  get recent(): RecentRequests {
    const [first] = this.#samples;
    const last = this.#samples.at(-1) as Sample;
    return { requests: last.ended - first.ended, failed: last.failed - first.failed, failedInRow: this.#failedInRow };
  }

  #keep(sample: Sample): void {
    const [first, ...others] = this.#samples;
    const last = others.at(-1);
    // Replaces the last sample until it is at least 5 s younger than the sample before it.
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
