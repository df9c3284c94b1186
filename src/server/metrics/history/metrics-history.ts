import type { RuntimeEvent } from "../../../shared/contract/events.js";
import {
  sparklineMinutes,
  type HistoryRange,
  type MetricsHistory as History,
  type Sparkline,
} from "../../../shared/contract/metrics-history.js";
import type { WorkerNumbers } from "../../workers/engine/worker-meter.js";
import { toHistory } from "./history-points.js";
import { HistorySampler } from "./history-sampler.js";
import { combineHistory, putCombined } from "./history-series.js";
import { HistoryStore, type HistoryStoreOptions } from "./history-store.js";
import { IntervalCounts } from "./interval-counts.js";
import type { HistoryRecord } from "./history-records.js";
import { MarkerRecorder } from "./marker-recorder.js";
import { encodeRow } from "./metric-ring.js";

const sampleIntervalMs = 10_000;
/** Time in ms from the end of an interval to its sample. The delay is necessary because a timer can fire 1 ms early. */
const timerMarginMs = 5;
/**
 * Name of the worker that serves the panel. Requests to this worker do not count in the history of the daemon or in the totals of the
 * metrics.
 */
const panelName = "cpanel";

interface MetricsHistoryOptions extends HistoryStoreOptions {
  readonly numbers: () => WorkerNumbers[];
  /** Returns the active version of a worker. */
  readonly activeVersionOf: (name: string) => string | undefined;
  /** Returns Unix time in milliseconds. */
  readonly now: () => number;
}

/** Records the metrics of the daemon and of each worker over time. If `sizeBytes` is 0, the history is disabled. */
export class MetricsHistory {
  readonly #options: MetricsHistoryOptions;
  readonly #store: HistoryStore;
  readonly #sampler: HistorySampler;
  readonly #markers: MarkerRecorder;
  readonly #tens = new IntervalCounts();
  #newTens: Buffer[] = [];
  #minute: number;
  #timer: NodeJS.Timeout | undefined;
  #sampling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: MetricsHistoryOptions) {
    this.#options = options;
    this.#store = new HistoryStore(options);
    this.#sampler = new HistorySampler(options.numbers);
    this.#minute = Math.floor(options.now() / 60_000);
    this.#markers = new MarkerRecorder({ store: this.#store, now: options.now, activeVersionOf: options.activeVersionOf });
  }

  /** Reads the journal, records the start of the daemon and starts to sample. */
  async open(): Promise<void> {
    if (!this.#isEnabled) return;
    await this.#store.open();
    this.#markers.noteStart();
    this.#plan();
  }

  /** Memory of all rows and counts in bytes. */
  get sizeBytes(): number {
    return this.#store.sizeBytes + this.#tens.sizeBytes + this.#sampler.sizeBytes;
  }

  /** Records a marker for an event that changes a worker, and deletes the history of a deleted worker. */
  noteEvent(event: RuntimeEvent): void {
    const name = event.subject?.name;
    if (!this.#isEnabled || name === undefined || !event.type.startsWith("worker.")) return;
    const isDeletion = event.type === "worker.deleted" || event.type === "worker.version-deleted";
    if (!isDeletion || this.#options.isInstalled(name)) return this.#markers.noteEvent(event, name);
    this.#markers.forget(name);
    void this.#store.forget(name);
  }

  /** Returns the history of a worker. Without `name`, returns the history of the daemon. */
  async read(name: string | undefined, range: HistoryRange): Promise<History> {
    const dataOf = (each: string) => (this.#isEnabled ? this.#store.read(each) : combineHistory([], { rows: [], markers: [] }));
    const daemon = await dataOf("");
    const worker = name === undefined ? undefined : await dataOf(name);
    return toHistory({ daemon, tens: this.#store.daemon.tens, worker, range, nowSeconds: this.#options.now() / 1000 });
  }

  /** Returns the requests of the last 60 complete minutes for each matching worker with at least one request, sorted by name. */
  sparklines(isWanted: (name: string) => boolean): Sparkline[] {
    // Excludes a minute that has ended, but has no rows yet. Otherwise the sparkline would show 0 requests for this minute.
    const first = this.#minute - sparklineMinutes + 1;
    return [...this.#store.workers]
      .filter(({ name }) => isWanted(name))
      .flatMap(({ name, minutes }) => {
        const rows = minutes.rows(first, first + sparklineMinutes - 1);
        if (rows.every(({ requests }) => requests === 0)) return [];
        const line = { name, requests: zeros(), failed: zeros() };
        for (const { slot, requests, failed } of rows) {
          line.requests[slot - first] = requests;
          line.failed[slot - first] = failed;
        }
        return [line];
      })
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /**
   * Takes a sample and closes the intervals that have ended. Calls run one after another and never reject. If a call waits for a slow write
   * to the disk, its sample covers more than 10 s.
   */
  sample(): Promise<void> {
    this.#sampling = this.#sampling
      .then(() => this.#sample())
      .catch((error: unknown) => this.#options.log.warn({ err: error }, "a sample of the metrics history failed; report this error"));
    return this.#sampling;
  }

  /** Takes a last sample, writes the current minute and stops. The next daemon process adds its metrics to the same minute. */
  async close(): Promise<void> {
    if (!this.#isEnabled || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#store.stopCompaction();
    await this.sample();
    this.#isClosed = true;
    await this.#markers.write();
    await this.#closeMinute(Math.ceil(this.#options.now() / 60_000));
  }

  get #isEnabled(): boolean {
    return this.#options.sizeBytes > 0;
  }

  #plan(): void {
    if (this.#isClosed) return;
    const delayMs = sampleIntervalMs - (this.#options.now() % sampleIntervalMs) + timerMarginMs;
    this.#timer = setTimeout(() => void this.sample().then(() => this.#plan()), delayMs).unref();
  }

  async #sample(): Promise<void> {
    if (this.#isClosed || !this.#isEnabled) return;
    const { daemon, workers } = this.#store;
    const totals = [this.#tens, daemon.current];
    for (const interval of totals) interval.beginSample();
    for (const { current } of workers) current.beginSample();
    await this.#sampler.sample(
      (name) => {
        const own = this.#store.seriesOf(name)?.current;
        return [...(own ? [own] : []), ...(name === panelName ? [] : totals)];
      },
      (name) => this.#store.hasSeries(name),
    );
    const ownUsage = this.#sampler.ownUsage();
    for (const interval of totals) interval.addUsage(ownUsage);
    const nowMs = this.#options.now();
    const row = this.#tens.close(Math.floor(nowMs / sampleIntervalMs));
    if (row) this.#newTens.push(encodeRow(putCombined(daemon.tens, row)));
    const minute = Math.floor(nowMs / 60_000);
    if (minute === this.#minute) return;
    this.#minute = minute;
    await this.#closeMinute(minute);
    await this.#store.maintain(this.#sampler.sizeBytes);
  }

  #closeMinute(slot: number): Promise<void> {
    const { daemon, workers } = this.#store;
    const records: HistoryRecord[] = [];
    const tens = Buffer.concat(this.#newTens.splice(0));
    if (tens.length > 0) records.push({ kind: "rows", name: "", stepSeconds: 10, rows: tens });
    for (const series of [daemon, ...workers]) {
      const row = series.closeMinute(slot);
      if (row) records.push({ kind: "rows", name: series.name, stepSeconds: 60, rows: encodeRow(row) });
    }
    return this.#store.append(records);
  }
}

function zeros(): number[] {
  return Array.from({ length: sparklineMinutes }, () => 0);
}
