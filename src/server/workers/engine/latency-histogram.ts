/**
 * Number of buckets between a duration and twice that duration. The width of a bucket is at most 1/16 of its durations. The middle
 * therefore differs from the real duration by at most 3.2 %.
 */
const bucketsPerDoubling = 16;
/** Units per ms. With units of 1/1024 ms, the bounds of `countsBelow` (`2^n` and `1.25 * 2^n` ms) are also bounds of buckets. */
const unitsPerMs = 1024;
/** Maximum duration in units of 1/1024 ms, about 17 minutes. The histogram counts a longer duration as this maximum. */
const longestUnits = 2 ** 30 - 1;
const bucketCount = bucketOf(longestUnits) + 1;
/** Interval in ms between two snapshots of the counts. Recent statistics contain 2 to 3 intervals. */
const snapshotEveryMs = 30_000;
const shortestRecentMs = 60_000;
const longestRecentMs = 90_000;

/** The counts of all buckets at one time, and the longest duration between this snapshot and the next one. */
interface Snapshot {
  readonly takenMs: number;
  /** Counts of the buckets modulo 2^32. The code uses only differences between two snapshots, and each difference is below 2^32. */
  readonly counts: Uint32Array;
  readonly failedCount: number;
  maximumMs: number;
}

/** Statistics of the durations of a set of requests. */
export interface LatencySummary {
  readonly count: number;
  /** Number of failed requests among `count`. */
  readonly failedCount: number;
  /** Median duration in ms. All percentiles are undefined if `count` is 0. */
  readonly p50Ms: number | undefined;
  readonly p90Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maximumMs: number | undefined;
}

/**
 * Counts durations and failed requests in log-linear buckets: since the start, and for the last 60 to 90 s. `record` also takes the
 * snapshots, so the class needs no timer.
 */
export class LatencyHistogram {
  readonly #createdMs: number;
  readonly #counts = new Float64Array(bucketCount);
  #failedCount = 0;
  #sumMs = 0;
  #maximumMs = 0;
  #snapshots: Snapshot[] = [];
  #latest: Snapshot | undefined;
  #nextSnapshotMs = Number.NEGATIVE_INFINITY;

  /** `nowMs` and all other times in this class are times of `performance.now()`. */
  constructor(nowMs: number) {
    this.#createdMs = nowMs;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  get failedCount(): number {
    return this.#failedCount;
  }

  record(durationMs: number, nowMs: number, hasFailed = false): void {
    if (nowMs >= this.#nextSnapshotMs) this.#takeSnapshot(nowMs);
    const units = durationMs * unitsPerMs;
    const bucket = bucketOf(units < longestUnits ? units | 0 : longestUnits);
    (this.#counts[bucket] as number) += 1;
    this.#sumMs += durationMs;
    if (hasFailed) this.#failedCount += 1;
    const latest = this.#latest as Snapshot;
    if (durationMs > latest.maximumMs) latest.maximumMs = durationMs;
  }

  /** Returns for each bound the number of requests that took less time. A bound must be `2^n` or `1.25 * 2^n` ms. */
  countsBelow(boundsMs: readonly number[]): number[] {
    let bucket = 0;
    let count = 0;
    return boundsMs.map((boundMs) => {
      const end = bucketOf(boundMs * unitsPerMs);
      for (; bucket < end; bucket += 1) count += this.#counts[bucket] as number;
      return count;
    });
  }

  /**
   * Adds the requests since the last call to each array in `sums`, by bucket. `before` contains the counts at the last call, and this
   * function updates `before`. `newLatencyCounts` creates all arrays.
   */
  addSince(before: Uint32Array, ...sums: readonly Uint32Array[]): void {
    for (let bucket = 0; bucket < bucketCount; bucket += 1) {
      // An element of a Uint32Array is modulo 2^32. The difference is therefore correct even after more than 2^32 requests.
      const earlier = before[bucket] as number;
      before[bucket] = this.#counts[bucket] as number;
      const added = ((before[bucket] as number) - earlier) >>> 0;
      if (added === 0) continue;
      for (const sum of sums) sum[bucket] = (sum[bucket] as number) + added;
    }
  }

  sinceStart(): LatencySummary {
    const recent = this.#latest?.maximumMs ?? 0;
    return summaryOf(this.#counts, this.#failedCount, Math.max(this.#maximumMs, recent));
  }

  /** Returns statistics of the last 60 to 90 s, with the exact length of this time in ms. */
  recent(nowMs: number): LatencySummary & { readonly windowMs: number } {
    const index = this.#snapshots.findIndex(({ takenMs }) => takenMs >= nowMs - longestRecentMs);
    const ageMs = Math.max(nowMs - this.#createdMs, 1000);
    const shortestMs = Math.min(ageMs, shortestRecentMs);
    const first = this.#snapshots[index];
    if (!first) {
      this.#forgetSnapshots();
      return { ...summaryOf(new Uint32Array(0), 0, 0), windowMs: shortestMs };
    }
    const counts = first.counts.map((before, bucket) => (this.#counts[bucket] as number) - before);
    const maximumMs = Math.max(...this.#snapshots.slice(index).map((snapshot) => snapshot.maximumMs));
    return {
      ...summaryOf(counts, this.#failedCount - first.failedCount, maximumMs),
      windowMs: Math.max(nowMs - first.takenMs, shortestMs),
    };
  }

  #takeSnapshot(nowMs: number): void {
    this.#maximumMs = Math.max(this.#maximumMs, this.#latest?.maximumMs ?? 0);
    this.#snapshots = this.#snapshots.filter(({ takenMs }) => takenMs >= nowMs - longestRecentMs);
    this.#latest = { takenMs: nowMs, counts: new Uint32Array(this.#counts), failedCount: this.#failedCount, maximumMs: 0 };
    this.#snapshots.push(this.#latest);
    this.#nextSnapshotMs = nowMs + snapshotEveryMs;
  }

  /** Deletes the snapshots of a histogram that receives no requests. */
  #forgetSnapshots(): void {
    this.#maximumMs = Math.max(this.#maximumMs, this.#latest?.maximumMs ?? 0);
    this.#snapshots = [];
    this.#latest = undefined;
    this.#nextSnapshotMs = Number.NEGATIVE_INFINITY;
  }
}

/** Returns an array with a count of 0 for each bucket, for `addSince`. */
export function newLatencyCounts(): Uint32Array {
  return new Uint32Array(bucketCount);
}

/** Returns the percentiles of counted durations in ms. Returns NaN if there are no durations. */
export function latencyPercentiles(counts: Uint32Array): { readonly p50Ms: number; readonly p99Ms: number } {
  const { p50Ms = Number.NaN, p99Ms = Number.NaN } = summaryOf(counts, 0, Infinity);
  return { p50Ms, p99Ms };
}

function bucketOf(units: number): number {
  if (units < bucketsPerDoubling) return units;
  const shift = 27 - Math.clz32(units);
  return shift * bucketsPerDoubling + (units >>> shift);
}

/** Returns the middle of a bucket in milliseconds. */
function middleOf(bucket: number): number {
  if (bucket < bucketsPerDoubling) return (bucket + 0.5) / unitsPerMs;
  const shift = Math.floor(bucket / bucketsPerDoubling) - 1;
  return ((bucket - shift * bucketsPerDoubling + 0.5) * 2 ** shift) / unitsPerMs;
}

function summaryOf(counts: Float64Array | Uint32Array, failedCount: number, maximumMs: number): LatencySummary {
  let count = 0;
  for (const ofBucket of counts) count += ofBucket;
  if (count === 0) return { count, failedCount, p50Ms: undefined, p90Ms: undefined, p99Ms: undefined, maximumMs: undefined };
  const [p50Ms, p90Ms, p99Ms] = percentiles(
    counts,
    [0.5, 0.9, 0.99].map((share) => Math.ceil(count * share)),
  ).map((ms) => Math.min(ms, maximumMs));
  return { count, failedCount, p50Ms, p90Ms, p99Ms, maximumMs };
}

/** Returns the duration at each rank in ms. Rank 1 is the shortest duration. `ranks` must be in ascending order. */
function percentiles(counts: Float64Array | Uint32Array, ranks: readonly number[]): number[] {
  let bucket = 0;
  let seen = counts[0] as number;
  return ranks.map((rank) => {
    while (seen < rank) {
      bucket += 1;
      seen += counts[bucket] as number;
    }
    return middleOf(bucket);
  });
}
