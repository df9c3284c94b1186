import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { cutText } from "../protocol/log-text.js";
import { followLog, entryFilter } from "./follow-log.js";
import type { LogFilter } from "../../../shared/contract/worker-logs.js";
import { WorkerLog } from "./worker-log.js";

const mostEntriesPerWorker = 10_000;
/** Approximate memory of an entry besides its text. */
const entryOverheadBytes = 96;

export type NewLogEntry = Omit<LogEntry, "id" | "time"> & { readonly name: string };

export interface WorkerLogsOptions {
  readonly bytesPerWorker: number;
  readonly totalBytes: number;
  /** Returns the current Unix time in milliseconds. */
  readonly now: () => number;
}

/**
 * The newest log entries of each worker, in memory. Beyond the limit per worker, the oldest entries are dropped. Beyond the total limit,
 * the log of the worker with the oldest last write is dropped.
 */
export class WorkerLogs {
  readonly #options: WorkerLogsOptions;
  /** Ordered by last write, oldest first. */
  readonly #logs = new Map<string, WorkerLog>();
  readonly #bytesPerWorker: number;
  #totalBytes = 0;
  #nextId: number;

  constructor(options: WorkerLogsOptions) {
    this.#options = options;
    this.#bytesPerWorker = Math.min(options.bytesPerWorker, options.totalBytes);
    // Ids exceed those of earlier daemon processes, so readers can resume after a restart.
    this.#nextId = options.now() * 1000;
  }

  get sizeBytes(): number {
    return this.#totalBytes;
  }

  write({ name, version, level, source, text }: NewLogEntry): void {
    // Copied: a substring would retain the whole original string.
    const bytes = Buffer.from(cutText(text));
    const entry = { id: this.#nextId, time: this.#options.now(), version, level, source, text: bytes.toString() };
    this.#nextId += 1;
    const log = this.#logs.get(name) ?? new WorkerLog();
    this.#logs.delete(name);
    this.#logs.set(name, log);
    const sizeBytes = bytes.length + entryOverheadBytes;
    this.#totalBytes += sizeBytes;
    log.append(entry, sizeBytes);
    while (log.sizeBytes > this.#bytesPerWorker || log.entryCount > mostEntriesPerWorker) this.#dropOldest(log);
    if (this.#totalBytes > this.#options.totalBytes) this.#dropLeastRecent(log);
    log.wake();
  }

  /** Returns the matching entries, oldest first. */
  read(name: string, query: LogFilter): { entries: LogEntry[]; hasMore: boolean } {
    return this.#logs.get(name)?.newest(entryFilter(query), query.limit) ?? { entries: [], hasMore: false };
  }

  /** Whether the log still has an entry of this version. */
  knows(name: string, version: string): boolean {
    return this.read(name, { version, limit: 1 }).entries.length > 0;
  }

  /**
   * Yields matching entries, then new ones in batches, until the signal aborts or the worker is deleted. `lastEventId`: yields all entries
   * after it. A reader that is too slow gets a notice about dropped entries.
   */
  async *follow(
    name: string,
    query: LogFilter,
    from: { lastEventId: number | undefined; signal: AbortSignal },
  ): AsyncGenerator<LogEntry[]> {
    const log = this.#logs.get(name) ?? new WorkerLog();
    if (!this.#logs.has(name)) this.#logs.set(name, log);
    // An unknown id does not tell which entries its reader has seen.
    const lastEventId = from.lastEventId !== undefined && from.lastEventId < this.#nextId ? from.lastEventId : undefined;
    log.followerCount += 1;
    try {
      yield* followLog(log, query, { lastEventId, signal: from.signal });
    } finally {
      log.followerCount -= 1;
      this.#removeIfUnused(name, log);
    }
  }

  /** Deletes the log of a deleted worker and ends its followers. */
  forget(name: string): void {
    const log = this.#logs.get(name);
    if (!log) return;
    this.#logs.delete(name);
    this.#totalBytes -= log.sizeBytes;
    log.clear();
    log.isForgotten = true;
    log.wake();
  }

  #dropOldest(log: WorkerLog): void {
    const before = log.sizeBytes;
    log.dropOldest();
    this.#totalBytes -= before - log.sizeBytes;
  }

  #dropLeastRecent(current: WorkerLog): void {
    for (const [name, log] of this.#logs) {
      if (this.#totalBytes <= this.#options.totalBytes || log === current) return;
      this.#totalBytes -= log.sizeBytes;
      log.clear();
      this.#removeIfUnused(name, log);
    }
  }

  #removeIfUnused(name: string, log: WorkerLog): void {
    if (log.entryCount === 0 && log.followerCount === 0 && this.#logs.get(name) === log) this.#logs.delete(name);
  }
}
