import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { cutText } from "../protocol/log-text.js";
import { followLog, entryFilter } from "./follow-log.js";
import type { LogFilter } from "../../../shared/contract/worker-logs.js";
import { WorkerLog } from "./worker-log.js";

const mostEntriesPerWorker = 10_000;
/** What an entry takes besides its text, about. */
const entryOverheadBytes = 96;

export type NewLogEntry = Omit<LogEntry, "id" | "time"> & { readonly name: string };

export interface WorkerLogsOptions {
  readonly bytesPerWorker: number;
  readonly totalBytes: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * What the workers wrote lately, by worker, in memory. Beyond its size a worker's oldest entries go; beyond the size of all, the log of
 * the worker that wrote least recently.
 */
export class WorkerLogs {
  readonly #options: WorkerLogsOptions;
  /** The one that wrote last comes last. */
  readonly #logs = new Map<string, WorkerLog>();
  readonly #bytesPerWorker: number;
  #totalBytes = 0;
  #nextId: number;

  constructor(options: WorkerLogsOptions) {
    this.#options = options;
    this.#bytesPerWorker = Math.min(options.bytesPerWorker, options.totalBytes);
    // Ids of the daemon before this one are all lower, so a reader can go on from where it was.
    this.#nextId = options.now() * 1000;
  }

  get sizeBytes(): number {
    return this.#totalBytes;
  }

  write({ name, version, level, source, text }: NewLogEntry): void {
    // A copy: a piece of a long string would keep all of it.
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

  /** The entries that fit, oldest first. */
  read(name: string, query: LogFilter): { entries: LogEntry[]; hasMore: boolean } {
    return this.#logs.get(name)?.newest(entryFilter(query), query.limit) ?? { entries: [], hasMore: false };
  }

  /** Whether a version of the worker has written anything that is still known. */
  knows(name: string, version: string): boolean {
    return this.read(name, { version, limit: 1 }).entries.length > 0;
  }

  /**
   * The entries that fit, then those to come, in batches, until the signal aborts or the worker is deleted. With `lastEventId` those
   * after it, however many. A reader that is too slow for what is kept finds an entry that says so.
   */
  async *follow(
    name: string,
    query: LogFilter,
    from: { lastEventId: number | undefined; signal: AbortSignal },
  ): AsyncGenerator<LogEntry[]> {
    const log = this.#logs.get(name) ?? new WorkerLog();
    if (!this.#logs.has(name)) this.#logs.set(name, log);
    // An id that was never given out says nothing about what its reader has seen.
    const lastEventId = from.lastEventId !== undefined && from.lastEventId < this.#nextId ? from.lastEventId : undefined;
    log.followerCount += 1;
    try {
      yield* followLog(log, query, { lastEventId, signal: from.signal });
    } finally {
      log.followerCount -= 1;
      this.#removeIfUnused(name, log);
    }
  }

  /** The worker was deleted: its entries go, and who follows it comes to an end. */
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
