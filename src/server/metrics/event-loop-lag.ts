import { monitorEventLoopDelay, type ELDHistogram } from "node:perf_hooks";

/** How often the loop is looked at; what comes later than this is lag. */
const resolutionMs = 500;
/** Two monitors begin again in turn, so that the older one always knows the last 30 to 60 s. */
const turnMs = 30_000;

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
