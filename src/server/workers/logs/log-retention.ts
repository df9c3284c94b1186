import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { RingReader } from "./follow-logs.js";
import type { LogFiles } from "./log-files.js";
import type { WorkerLog } from "./worker-log.js";

/** Interval between writes to the log files. A crash of the daemon loses at most the entries of one interval. */
const writeIntervalMs = 1000;

interface LogRetentionOptions {
  readonly files: LogFiles;
  /** Called when entries cannot be written and are therefore missing on disk. Called again only after a successful write. */
  readonly onError: (error: unknown) => void;
}

/**
 * Writes new log entries to the files each second. If memory has already dropped entries, writes a notice with the number of dropped
 * entries instead.
 */
export class LogRetention {
  readonly files: LogFiles;
  readonly #onError: (error: unknown) => void;
  readonly #readers = new WeakMap<WorkerLog, RingReader>();
  /** Worker names by logs with new entries. A worker has several logs here if its log was dropped from memory and created again. */
  readonly #changed = new Map<WorkerLog, string>();
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;

  constructor({ files, onError }: LogRetentionOptions) {
    this.files = files;
    this.#onError = onError;
  }

  noteChange(name: string, log: WorkerLog): void {
    this.#changed.set(log, name);
    this.#timer ??= setTimeout(() => void this.write(), writeIntervalMs).unref();
  }

  /** Deletes the stored entries of a worker, and discards entries that are not written yet. */
  forget(name: string): void {
    for (const [log, worker] of this.#changed) if (worker === name) this.#changed.delete(log);
    this.files.delete(name).catch((error: unknown) => this.#noteFailure(error));
  }

  /** Writes all new entries. Resolves when the entries are in the files or the write has failed. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const [log, name] of changed) await this.#writeLog(name, log);
  }

  async #writeLog(name: string, log: WorkerLog): Promise<void> {
    const start = log.rings.map((ring) => [ring, 0] as const);
    const reader = this.#readers.get(log) ?? new RingReader(() => true, 0, start);
    this.#readers.set(log, reader);
    const entries: LogEntry[] = [];
    while (reader.hasMore(log.rings)) entries.push(...reader.next(log.rings));
    if (entries.length === 0) return;
    // Sorts by id, because a batch begins with its notices, even if entries of the batch have lower ids.
    entries.sort((one, other) => one.id - other.id);
    try {
      await this.files.append(name, entries);
      this.#isFailing = false;
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  /** Reports only the first failure until a write succeeds, so that a full disk does not fill the daemon's log as well. */
  #noteFailure(error: unknown): void {
    if (!this.#isFailing) this.#onError(error);
    this.#isFailing = true;
  }
}
