import { newLatencyCounts } from "../../workers/engine/latency-histogram.js";
import type { WorkerMeter, WorkerNumbers } from "../../workers/engine/worker-meter.js";
import { CpuAccount, ProcessSampler, type ProcessSample } from "../process-stats.js";
import { latencyCountsBytes, type IntervalCounts, type Usage } from "./interval-counts.js";

/**
 * If there are more isolates than this number, each sample reads memory and CPU time of only one in `turns` isolates, because the kernel
 * needs about 0.2 ms for each isolate.
 */
const isolatesPerSample = 100;
const turns = 6;

interface MeterState {
  /** Counts of request durations at the previous sample. Undefined before the first request, and while the worker has no series. */
  latency: Uint32Array | undefined;
  endedCount: number;
  failedCount: number;
  readonly cpu: CpuAccount;
  cpuSeconds: number;
}

/** Reads the meters of all worker versions. Adds the differences from the previous sample to the current intervals. */
export class HistorySampler {
  readonly #numbers: () => WorkerNumbers[];
  readonly #processes = new ProcessSampler();
  #states = new Map<WorkerMeter, MeterState>();
  #memoryBytes = new Map<number, number>();
  #turn = 0;
  #daemonCpuSeconds = 0;

  constructor(numbers: () => WorkerNumbers[]) {
    this.#numbers = numbers;
  }

  /** Memory in bytes of the stored counts of request durations. */
  get sizeBytes(): number {
    let count = 0;
    for (const { latency } of this.#states.values()) if (latency) count += 1;
    return count * latencyCountsBytes;
  }

  /**
   * For each worker with activity since the previous sample, adds this activity to the intervals that `intervalsOf` returns. If
   * `isRecorded` returns false for a worker, frees its counts of request durations.
   */
  async sample(intervalsOf: (name: string) => readonly IntervalCounts[], isRecorded: (name: string) => boolean): Promise<void> {
    const samples = await this.#processes.sample(this.#pidsOfTurn());
    const numbers = this.#numbers();
    const states = new Map<WorkerMeter, MeterState>();
    const memoryBytes = new Map<number, number>();
    for (const { meter, currentLoad } of numbers) {
      const state = this.#states.get(meter) ?? { latency: undefined, endedCount: 0, failedCount: 0, cpu: new CpuAccount(), cpuSeconds: 0 };
      states.set(meter, state);
      const pids = currentLoad?.pids ?? [];
      const usage = this.#usageOf(state, pids, samples, memoryBytes);
      const { endedCount } = meter;
      const isActive = endedCount !== state.endedCount || usage.isolates > 0 || usage.cpuSeconds > 0;
      const intervals = isActive ? intervalsOf(meter.name) : [];
      for (const interval of intervals) interval.addUsage(usage);
      if (!isRecorded(meter.name)) state.latency = undefined;
      else if (endedCount !== state.endedCount) addLatency(meter, state, intervals);
      if (endedCount !== state.endedCount) addRequests(meter, state, intervals, endedCount);
    }
    this.#states = states;
    this.#memoryBytes = memoryBytes;
  }

  /** Returns the memory of the daemon's process, and its CPU time since the previous call. */
  ownUsage(): Usage {
    const { user, system } = process.cpuUsage();
    const cpuSeconds = (user + system) / 1e6;
    const usage = { memoryBytes: process.memoryUsage.rss(), cpuSeconds: cpuSeconds - this.#daemonCpuSeconds, isolates: 0 };
    this.#daemonCpuSeconds = cpuSeconds;
    return usage;
  }

  #pidsOfTurn(): number[] {
    const pids = this.#numbers().flatMap(({ currentLoad }) => currentLoad?.pids ?? []);
    if (pids.length <= isolatesPerSample) return pids;
    this.#turn = (this.#turn + 1) % turns;
    return pids.filter((pid) => pid % turns === this.#turn);
  }

  #usageOf(
    state: MeterState,
    pids: readonly number[],
    samples: ReadonlyMap<number, ProcessSample>,
    memoryBytes: Map<number, number>,
  ): Usage {
    let total = 0;
    for (const pid of pids) {
      const sample = samples.get(pid);
      const bytes = sample ? (sample.pssBytes ?? sample.rssBytes) : (this.#memoryBytes.get(pid) ?? 0);
      memoryBytes.set(pid, bytes);
      total += bytes;
    }
    const cpuSeconds = state.cpu.update(pids, samples);
    // Ignores a decrease of the total, because the CPU time of an interval cannot be negative.
    const added = Math.max(0, cpuSeconds - state.cpuSeconds);
    state.cpuSeconds = cpuSeconds;
    return { memoryBytes: total, cpuSeconds: added, isolates: pids.length };
  }
}

/**
 * Adds the durations of new requests to the intervals. If the previous counts were freed, the durations of the new requests are unknown, so
 * this call only stores the current counts.
 */
function addLatency(meter: WorkerMeter, state: MeterState, intervals: readonly IntervalCounts[]): void {
  const isKnown = state.latency !== undefined || state.endedCount === 0;
  state.latency ??= newLatencyCounts();
  meter.latency.addSince(state.latency, ...(isKnown ? intervals : []).map(({ latency }) => latency));
}

function addRequests(meter: WorkerMeter, state: MeterState, intervals: readonly IntervalCounts[], endedCount: number): void {
  const { failedCount } = meter.latency;
  for (const interval of intervals) interval.addRequests(endedCount - state.endedCount, failedCount - state.failedCount);
  state.endedCount = endedCount;
  state.failedCount = failedCount;
}
