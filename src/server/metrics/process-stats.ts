import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay, type ELDHistogram } from "node:perf_hooks";

/** Time in ms for which the daemon reuses a sample. Several clients at the same time then cause no more reads of /proc than one client. */
const freshMs = 1000;
/** Number of processes whose /proc files the daemon reads at the same time. A higher number would delay other tasks of the thread pool. */
const sideBySide = 8;
/** Number of CPU time units (ticks) per second in /proc. The number is 100 on every platform that Node.js supports. */
const ticksPerSecond = 100;

/** Interval in ms of the timer that measures the event loop. The lag is the time by which a timer call is late. */
const resolutionMs = 500;
/**
 * Interval in ms at which one of the two monitors restarts. The monitors take turns, so the older monitor always covers the last 30 to 60
 * s.
 */
const turnMs = 30_000;

export interface ProcessSample {
  /** Distinguishes the process from earlier processes with the same process id. */
  readonly identity: string;
  readonly rssBytes: number;
  /**
   * Proportional set size: the private memory of the process and its part of the shared memory. Undefined if the system does not report
   * this size.
   */
  readonly pssBytes: number | undefined;
  readonly cpuSeconds: number;
}

interface Taken {
  readonly takenMs: number;
  readonly sample: Promise<ProcessSample | undefined>;
}

/** Reads memory and CPU time of processes from /proc on request. */
export class ProcessSampler {
  readonly #taken = new Map<number, Taken>();

  /** Returns the samples of the processes by process id. Omits exited processes. Returns an empty map on a system without /proc. */
  async sample(pids: readonly number[]): Promise<ReadonlyMap<number, ProcessSample>> {
    const nowMs = performance.now();
    for (const [pid, { takenMs }] of this.#taken) if (nowMs - takenMs > freshMs) this.#taken.delete(pid);
    const samples = new Map<number, ProcessSample>();
    const waiting = [...pids];
    const take = async (): Promise<void> => {
      for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
        const sample = await this.#sampleOf(pid, nowMs);
        if (sample) samples.set(pid, sample);
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, take));
    return samples;
  }

  #sampleOf(pid: number, nowMs: number): Promise<ProcessSample | undefined> {
    const taken = this.#taken.get(pid) ?? { takenMs: nowMs, sample: readSample(pid).catch(() => undefined) };
    this.#taken.set(pid, taken);
    return taken.sample;
  }
}

async function readSample(pid: number): Promise<ProcessSample | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The process name is in parentheses and can contain any characters. The fields after the name (proc(5), from number 3 on) therefore
  // begin after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system, startTicks] = [fields[11], fields[12], fields[19]];
  const memory = await readMemory(pid);
  if (!memory) return undefined;
  return { identity: `${pid}:${startTicks}`, ...memory, cpuSeconds: (Number(user) + Number(system)) / ticksPerSecond };
}

async function readMemory(pid: number): Promise<{ rssBytes: number; pssBytes: number | undefined } | undefined> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  const rssBytes = bytesOf(rollup, "Rss");
  if (rssBytes !== undefined) return { rssBytes, pssBytes: bytesOf(rollup, "Pss") };
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const residentBytes = bytesOf(status, "VmRSS");
  return residentBytes === undefined ? undefined : { rssBytes: residentBytes, pssBytes: undefined };
}

function bytesOf(text: string, field: string): number | undefined {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** CPU time of all isolates of a worker version. Includes exited isolates up to their last sample. */
export class CpuAccount {
  #endedSeconds = 0;
  readonly #running = new Map<number, ProcessSample>();

  /**
   * Adds the samples of running processes and returns the total CPU time in seconds. For a process without a new sample, uses the previous
   * sample.
   */
  update(pids: readonly number[], samples: ReadonlyMap<number, ProcessSample>): number {
    for (const [pid, { identity, cpuSeconds }] of this.#running) {
      if (pids.includes(pid) && (samples.get(pid)?.identity ?? identity) === identity) continue;
      this.#endedSeconds += cpuSeconds;
      this.#running.delete(pid);
    }
    for (const pid of pids) {
      const sample = samples.get(pid);
      // Ignores a sample with less CPU time than an earlier one. With two concurrent calls, the later call can have the older sample.
      if (sample && sample.cpuSeconds >= (this.#running.get(pid)?.cpuSeconds ?? 0)) this.#running.set(pid, sample);
    }
    let seconds = this.#endedSeconds;
    for (const { cpuSeconds } of this.#running.values()) seconds += cpuSeconds;
    return seconds;
  }
}

/** Measures the lag of the event loop in the last 30 to 60 s. The timers do not keep the process alive. */
export class EventLoopLag {
  #older: ELDHistogram;
  #newer: ELDHistogram;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#older = startMonitor();
    this.#newer = startMonitor();
    this.#timer = setInterval(() => this.#turn(), turnMs);
    this.#timer.unref();
  }

  read(): { p50Ms: number; p99Ms: number; maximumMs: number } {
    const histogram = this.#older;
    if (histogram.count === 0) return { p50Ms: 0, p99Ms: 0, maximumMs: 0 };
    return { p50Ms: lagMs(histogram.percentile(50)), p99Ms: lagMs(histogram.percentile(99)), maximumMs: lagMs(histogram.max) };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#older.disable();
    this.#newer.disable();
  }

  #turn(): void {
    this.#older.reset();
    [this.#older, this.#newer] = [this.#newer, this.#older];
  }
}

function startMonitor(): ELDHistogram {
  const monitor = monitorEventLoopDelay({ resolution: resolutionMs });
  monitor.enable();
  return monitor;
}

/** Returns the lag in ms for a sample in ns. The sample is the time between two calls of the timer. */
function lagMs(sampleNs: number): number {
  return Math.max(0, sampleNs / 1e6 - resolutionMs);
}
