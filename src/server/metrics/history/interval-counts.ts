import { latencyPercentiles, newLatencyCounts } from "../../workers/engine/latency-histogram.js";
import type { MetricRow } from "./metric-row.js";

/** Memory in bytes of the counts of request durations of one interval or meter. */
export const latencyCountsBytes = newLatencyCounts().byteLength;

/** Memory, CPU time and number of isolates of a worker version or of the daemon at one sample. */
export interface Usage {
  readonly memoryBytes: number;
  /** CPU time since the previous sample. */
  readonly cpuSeconds: number;
  readonly isolates: number;
}

/** Collects the metrics of one worker or of the daemon during the current interval. */
export class IntervalCounts {
  #latency: Uint32Array | undefined;
  #requests = 0;
  #failed = 0;
  #memoryBytes = 0;
  #cpuSeconds = 0;
  #isolates = 0;

  /** Counts of request durations. The sampler adds to this array. */
  get latency(): Uint32Array {
    return (this.#latency ??= newLatencyCounts());
  }

  get sizeBytes(): number {
    return this.#latency?.byteLength ?? 0;
  }

  addRequests(requests: number, failed: number): void {
    this.#requests += requests;
    this.#failed += failed;
  }

  /** Begins a sample. Discards memory and isolates of the previous sample, because a row contains only those of the last sample. */
  beginSample(): void {
    this.#memoryBytes = 0;
    this.#isolates = 0;
  }

  addUsage({ memoryBytes, cpuSeconds, isolates }: Usage): void {
    this.#memoryBytes += memoryBytes;
    this.#cpuSeconds += cpuSeconds;
    this.#isolates += isolates;
  }

  /**
   * Returns the row of the current interval and begins the next interval. Returns undefined if the interval had neither requests nor
   * processes.
   */
  close(slot: number): MetricRow | undefined {
    const isEmpty = this.#requests === 0 && this.#isolates === 0 && this.#cpuSeconds === 0 && this.#memoryBytes === 0;
    const row: MetricRow = {
      slot,
      requests: this.#requests,
      failed: this.#failed,
      ...latencyPercentiles(this.#latency ?? new Uint32Array(0)),
      memoryKilobytes: Math.round(this.#memoryBytes / 1024),
      cpuSeconds: this.#cpuSeconds,
      isolates: this.#isolates,
    };
    // Frees the counts of request durations if the interval had no requests.
    if (this.#requests === 0) this.#latency = undefined;
    else this.#latency?.fill(0);
    this.#requests = 0;
    this.#failed = 0;
    this.#cpuSeconds = 0;
    return isEmpty ? undefined : row;
  }
}
