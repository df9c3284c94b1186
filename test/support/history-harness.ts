import path from "node:path";
import { MetricsHistory } from "../../src/server/metrics/history/metrics-history.js";
import { WorkerMeter } from "../../src/server/workers/engine/worker-meter.js";
import { temporaryDirectory } from "./temporary-directory.js";

/** Time at which the clock of each harness starts, in Unix milliseconds. */
export const startMs = Date.UTC(2026, 0, 1, 12);
export const minuteMs = 60_000;
const mb = 1024 * 1024;

/** A history whose clock and meters belong to the test. Each restart reads the same directory. */
export class HistoryHarness {
  readonly directory: string;
  readonly warnings: string[] = [];
  readonly installed = new Set<string>();
  nowMs = startMs;
  #meters = new Map<string, WorkerMeter>();
  #sizeBytes: number;
  history: MetricsHistory;

  constructor(directory: string, sizeBytes = 64 * mb) {
    this.directory = path.join(directory, "metrics-history");
    this.#sizeBytes = sizeBytes;
    this.history = this.#create();
  }

  /** Opens the history a second time without closing the first one, as after SIGKILL. */
  async restart(): Promise<void> {
    this.#meters = new Map();
    this.history = this.#create();
    await this.history.open();
  }

  request(name: string, { count = 1, failed = 0, durationMs = 4 } = {}): void {
    this.installed.add(name);
    const meter = this.#meters.get(name) ?? new WorkerMeter(name, "1.0.0");
    this.#meters.set(name, meter);
    for (let number = 0; number < count; number += 1) meter.note(number < failed ? 500 : 200, durationMs, performance.now());
  }

  async minute(): Promise<void> {
    this.nowMs += minuteMs;
    await this.history.sample();
  }

  async requestsOf(name: string | undefined, range: "1h" | "24h" | "14d" = "24h"): Promise<[at: number, requests: number][]> {
    const { points } = await this.history.read(name, range);
    return points.at.map((at, index) => [(at * 1000 - startMs) / minuteMs, points.requests[index] as number]);
  }

  #create(): MetricsHistory {
    return new MetricsHistory({
      directory: this.directory,
      sizeBytes: this.#sizeBytes,
      numbers: () => [...this.#meters.values()].map((meter) => ({ meter, currentLoad: undefined })),
      activeVersionOf: () => "1.0.0",
      isInstalled: (name) => this.installed.has(name),
      now: () => this.nowMs,
      log: { warn: (_fields, text) => this.warnings.push(text) },
    });
  }
}

/** Opens a history in `parent`, or in a temporary directory. */
export async function openHistory(sizeBytes?: number, parent?: string): Promise<HistoryHarness> {
  const harness = new HistoryHarness(parent ?? (await temporaryDirectory()), sizeBytes);
  await harness.history.open();
  return harness;
}
