import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { RingReader } from "./follow-logs.js";
import type { LogFiles } from "./log-files.js";
import type { WorkerLog } from "./worker-log.js";

/** Interval in ms between two writes to the log files. A crash of the daemon loses at most the entries of one interval. */
const writeIntervalMs = 1000;

interface LogRetentionOptions {
  readonly files: LogFiles;
  /** Called if a write fails. After that, not called again until a write has succeeded. */
  readonly onError: (error: unknown) => void;
}

/** Writes new log entries to the files each second. If entries are no longer in memory, writes a notice with their number. */
export class LogRetention {
  readonly files: LogFiles;
  readonly #onError: (error: unknown) => void;
  readonly #readers = new WeakMap<WorkerLog, RingReader>();
  /**
   * Logs with new entries, each with its worker name. If memory dropped the log of a worker and created it again, the map contains several
   * logs of this worker.
   */
  readonly #changed = new Map<WorkerLog, string>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor({ files, onError }: LogRetentionOptions) {
    this.files = files;
    this.#onError = onError;
  }

  noteChange(name: string, log: WorkerLog): void {
    this.#changed.set(log, name);
    this.#timer ??= setTimeout(() => void this.write(), writeIntervalMs).unref();
  }

  /** Deletes the stored entries of a worker and the entries that wait for a write. */
  forget(name: string): void {
    for (const [log, worker] of this.#changed) if (worker === name) this.#changed.delete(log);
    this.files.delete(name).catch((error: unknown) => this.#noteFailure(error));
  }

  /** Writes all new entries. Resolves after this write and all earlier writes, even if they have failed. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeChanged());
    return this.#writing;
  }

  async #writeChanged(): Promise<void> {
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
    // Sorts by id. In a batch, notices come first, although their ids can be higher.
    entries.sort((one, other) => one.id - other.id);
    try {
      await this.files.append(name, entries);
      this.#isFailing = false;
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  /** Reports a failure only once until a write succeeds, so that a full disk does not also fill the daemon's log. */
  #noteFailure(error: unknown): void {
    if (!this.#isFailing) this.#onError(error);
    this.#isFailing = true;
  }
}
