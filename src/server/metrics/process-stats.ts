import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay, type ELDHistogram } from "node:perf_hooks";

/** Samples this young are given again: two screens that look cost as much as one. */
const freshMs = 1000;
/** Processes that are looked at side by side; more would keep other users of the thread pool waiting. */
const sideBySide = 8;
/** The kernel's unit of CPU time on every platform that Node runs on. */
const ticksPerSecond = 100;

/** How often the loop is looked at; what comes later than this is lag. */
const resolutionMs = 500;
/** Two monitors begin again in turn, so that the older one always knows the last 30 to 60 s. */
const turnMs = 30_000;

export interface ProcessSample {
  /** Tells processes apart that have the same id at different times. */
  readonly identity: string;
  readonly rssBytes: number;
  /** Its share of the memory that processes have in common; undefined where the system does not tell. */
  readonly pssBytes: number | undefined;
  readonly cpuSeconds: number;
}

interface Taken {
  readonly takenMs: number;
  readonly sample: Promise<ProcessSample | undefined>;
}

/** Memory and CPU time of processes, from /proc, only when somebody asks. */
export class ProcessSampler {
  readonly #taken = new Map<number, Taken>();

  /** Those that have ended, and all where there is no /proc, are left out. */
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
  // The name in parentheses may hold anything, so what follows the last one counts: fields 3 and up of proc(5).
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

/** CPU time of a worker across the isolates that come and go: what one used after it was last looked at is lost with it. */
export class CpuAccount {
  #endedSeconds = 0;
  readonly #running = new Map<number, ProcessSample>();

  /** Takes note of the processes that run, of which some may not have been sampled; returns the time of all there ever were. */
  update(pids: readonly number[], samples: ReadonlyMap<number, ProcessSample>): number {
    for (const [pid, { identity, cpuSeconds }] of this.#running) {
      if (pids.includes(pid) && (samples.get(pid)?.identity ?? identity) === identity) continue;
      this.#endedSeconds += cpuSeconds;
      this.#running.delete(pid);
    }
    for (const pid of pids) {
      const sample = samples.get(pid);
      // Of two who look at the same time the later one may bring the older sample.
      if (sample && sample.cpuSeconds >= (this.#running.get(pid)?.cpuSeconds ?? 0)) this.#running.set(pid, sample);
    }
    let seconds = this.#endedSeconds;
    for (const { cpuSeconds } of this.#running.values()) seconds += cpuSeconds;
    return seconds;
  }
}

/** How late the event loop was of late. Holds no process alive. */
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

/** A sample is the time between two looks, in nanoseconds. */
function lagMs(sampleNs: number): number {
  return Math.max(0, sampleNs / 1e6 - resolutionMs);
}
