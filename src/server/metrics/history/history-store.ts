import { historyRanges, sparklineMinutes } from "../../../shared/contract/metrics-history.js";
import { HistoryFiles, journalTargetBytes } from "./history-files.js";
import { combineHistory, HistorySeries, recordsOf, type SeriesData } from "./history-series.js";
import type { HistoryRecord } from "./history-records.js";

/**
 * The daemon starts a compaction when memory contains the rows of this number of minutes (6 h) in addition to the rows of the sparklines.
 */
const compactionMinutes = 360;
/**
 * Share of the memory limit. If the history exceeds the limit, the daemon moves the history of idle workers to the disk until this share
 * remains. With a share of 1, the daemon would move history every minute.
 */
const evictionShare = 0.9;
/**
 * Memory in bytes that the daemon reserves for each worker. An active worker with one version needs at most this memory after a compaction.
 */
const newSeriesBytes = 9 * 1024;
const longestRangeMs = historyRanges["14d"].seconds * 1000;

export interface HistoryStoreOptions {
  readonly directory: string;
  /** Maximum memory of the history in bytes. */
  readonly sizeBytes: number;
  readonly isInstalled: (name: string) => boolean;
  readonly log: { warn(fields: object, text: string): void };
}

/**
 * Stores the series of the daemon and of each worker. The newest rows are in memory and in the journal. A compaction moves rows to one file
 * per worker. If a write fails, the daemon logs the error and keeps the rows in memory.
 */
export class HistoryStore {
  readonly daemon = new HistorySeries("");
  readonly #options: HistoryStoreOptions;
  readonly #files: HistoryFiles;
  readonly #workers = new Map<string, HistorySeries>();
  /** True if a write has failed since the last compaction. Some rows are then only in memory. */
  #isFailing = false;
  #isStopping = false;
  #hasWarned = false;
  /** Memory in bytes that new series can use until the next call of `maintain`. */
  #roomBytes: number;
  /** Memory in bytes that other parts of the history use, as of the last call of `maintain`. */
  #otherBytes = 0;

  constructor(options: HistoryStoreOptions) {
    this.#options = options;
    this.#roomBytes = options.sizeBytes;
    this.#files = new HistoryFiles(options.directory);
  }

  async open(): Promise<void> {
    for (const record of await this.#files.readJournal()) {
      if (record.kind === "removal") this.#workers.delete(record.name);
      else if (record.name === "") this.daemon.replay(record);
      else this.seriesOf(record.name)?.replay(record);
    }
  }

  /** Memory of all series in bytes. */
  get sizeBytes(): number {
    let bytes = this.daemon.sizeBytes;
    for (const series of this.#workers.values()) bytes += series.sizeBytes;
    return bytes;
  }

  get workers(): Iterable<HistorySeries> {
    return this.#workers.values();
  }

  hasSeries(name: string): boolean {
    return this.#workers.has(name);
  }

  /**
   * Returns the series of an installed worker, and creates the series at the first call. Returns undefined if the worker is not installed,
   * or if a new series would exceed the memory limit.
   */
  seriesOf(name: string): HistorySeries | undefined {
    const known = this.#workers.get(name);
    if (known || !this.#options.isInstalled(name)) return known;
    if (this.#roomBytes < newSeriesBytes) {
      this.#warnOnce();
      return undefined;
    }
    this.#roomBytes -= newSeriesBytes;
    const series = new HistorySeries(name);
    this.#workers.set(name, series);
    return series;
  }

  /** Returns the complete history of a worker, or of the daemon if `name` is empty. */
  async read(name: string): Promise<SeriesData> {
    const series = name === "" ? this.daemon : this.#workers.get(name);
    // Copies the rows in memory before the read of the files. In the opposite order, the rows that a compaction moves between the two steps would be missing.
    const recent = { rows: series?.minutes.rows() ?? [], markers: [...(series?.markers ?? [])] };
    return combineHistory(await this.#files.read(name), recent);
  }

  /** Appends records to the journal. If the write fails, logs the error and does not reject. */
  append(records: readonly HistoryRecord[]): Promise<void> {
    return this.#reportFailure(() => this.#files.append(records));
  }

  /** Deletes the history of a worker in memory and on disk. */
  async forget(name: string): Promise<void> {
    this.#workers.delete(name);
    await this.append([{ kind: "removal", name }]);
    await this.#reportFailure(() => this.#files.delete(name));
  }

  /**
   * Starts a compaction if there are many rows, if the journal is large, or if a write has failed. Frees memory above the limit.
   * `otherBytes`: memory of other parts of the history, which counts toward the limit.
   */
  async maintain(otherBytes: number): Promise<void> {
    this.#otherBytes = otherBytes;
    const hasManyRows = this.daemon.minutes.length >= compactionMinutes + sparklineMinutes;
    if (this.#isFailing || hasManyRows || this.#files.journalBytes >= journalTargetBytes) await this.#reportFailure(() => this.#compact());
    if (this.#reservedBytes + newSeriesBytes > this.#options.sizeBytes) await this.#limitMemory();
    this.#roomBytes = this.#options.sizeBytes - this.#reservedBytes;
  }

  /** Stops the current compaction and prevents further compactions, because the daemon stops. The journal still contains the rows. */
  stopCompaction(): void {
    this.#isStopping = true;
  }

  /**
   * Begins a new journal, writes the files of all workers, then deletes the previous journal and the files of deleted workers without
   * recent rows.
   */
  async #compact(): Promise<void> {
    const isNew = await this.#files.rotateJournal();
    if (isNew) await this.#files.append([this.daemon, ...this.#workers.values()].flatMap((series) => series.recentRecords()));
    for (const series of [this.daemon, ...this.#workers.values()]) {
      if (this.#isStopping) return;
      await this.#writeFile(series);
    }
    await this.#files.deletePreviousJournal();
    this.#isFailing = false;
    await this.#files.deleteOlder(Date.now() - longestRangeMs, (name) => this.#workers.has(name) || this.#options.isInstalled(name));
    const oldest = (this.daemon.minutes.newestSlot ?? 0) - sparklineMinutes;
    for (const { name, minutes } of this.#workers.values()) if ((minutes.newestSlot ?? 0) <= oldest) this.#workers.delete(name);
  }

  async #writeFile(series: HistorySeries): Promise<void> {
    const { name } = series;
    const isCurrent = () => series === this.daemon || this.#workers.get(name) === series;
    const written = series.markers.length;
    const hasUnwritten = series.hasUnwritten;
    series.hasUnwritten = false;
    try {
      if (hasUnwritten) await this.#files.write(name, recordsOf(name, await this.read(name)), isCurrent);
    } catch (error) {
      series.hasUnwritten = true;
      throw error;
    }
    series.markers = series.markers.slice(written);
    series.trim();
  }

  /**
   * Frees memory. First moves the history of idle workers to the disk, beginning with the longest idle time. If this is not enough, moves older rows of
   * active workers to their files.
   */
  async #limitMemory(): Promise<void> {
    const idle = [...this.#workers.values()].filter((series) => lastOf(series) !== lastOf(this.daemon));
    for (const series of idle.toSorted((one, other) => lastOf(one) - lastOf(other))) {
      if (this.#reservedBytes <= this.#options.sizeBytes * evictionShare) return;
      await this.#reportFailure(() => this.#writeFile(series));
      this.#workers.delete(series.name);
    }
    if (this.#usedBytes > this.#options.sizeBytes) await this.#reportFailure(() => this.#compact());
    // If the daemon could not write the files, for example on a full disk, the older rows are lost. The memory limit has priority.
    if (this.#usedBytes > this.#options.sizeBytes) for (const series of this.#workers.values()) series.trim();
  }

  #warnOnce(): void {
    if (!this.#hasWarned)
      this.#options.log.warn(
        { limitBytes: this.#options.sizeBytes },
        "the memory for the metrics history is full, so some workers have no history: raise RUNTIME_METRICS_HISTORY_SIZE",
      );
    this.#hasWarned = true;
  }

  get #usedBytes(): number {
    return this.sizeBytes + this.#otherBytes;
  }

  /** Returns the larger of two numbers in bytes: the memory in use, and the memory that all workers would need if they were active. */
  get #reservedBytes(): number {
    return Math.max(this.#usedBytes, this.#workers.size * newSeriesBytes);
  }

  /**
   * Logs only the first failure until a compaction has written all rows. On a full disk, small writes can succeed between failures, and a
   * warning after each failure would fill the daemon's log.
   */
  async #reportFailure(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!this.#isFailing)
        this.#options.log.warn({ err: error }, "the metrics history could not be written to disk; free space in the state directory");
      this.#isFailing = true;
    }
  }
}

function lastOf({ minutes }: HistorySeries): number {
  return minutes.newestSlot ?? 0;
}
