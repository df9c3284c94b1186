import { latencyPercentiles, newLatencyCounts } from "../../workers/engine/latency-histogram.js";
import type { MetricRow } from "./metric-row.js";

/** Memory of the counts of durations of one interval or meter. */
export const latencyCountsBytes = newLatencyCounts().byteLength;

/** Memory, CPU time and number of processes at one sample. */
export interface Usage {
  readonly memoryBytes: number;
  /** CPU time since the previous sample. */
  readonly cpuSeconds: number;
  readonly isolates: number;
}

/** Collects the metrics of the current interval of one series. */
export class IntervalCounts {
  #latency: Uint32Array | undefined;
  #requests = 0;
  #failed = 0;
  #memoryBytes = 0;
  #cpuSeconds = 0;
  #isolates = 0;

  /** Counts of the durations, to which the owner adds. */
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

  /** Begins a sample: the memory and isolates of the previous sample are replaced by those that follow. */
  beginSample(): void {
    this.#memoryBytes = 0;
    this.#isolates = 0;
  }

  addUsage({ memoryBytes, cpuSeconds, isolates }: Usage): void {
    this.#memoryBytes += memoryBytes;
    this.#cpuSeconds += cpuSeconds;
    this.#isolates += isolates;
  }

  /** Returns the row of the interval and begins the next interval. Returns undefined for an interval without requests and processes. */
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
    // The counts of an idle worker are freed.
    if (this.#requests === 0) this.#latency = undefined;
    else this.#latency?.fill(0);
    this.#requests = 0;
    this.#failed = 0;
    this.#cpuSeconds = 0;
    return isEmpty ? undefined : row;
  }
}
