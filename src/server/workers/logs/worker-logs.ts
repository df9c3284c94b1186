import type { LogEntry, LogFilter, LoggedRequest } from "../../../shared/contract/worker-logs.js";
import { cutText } from "../protocol/log-text.js";
import { ChangeSignal } from "./change-signal.js";
import type { EntryRing } from "./entry-ring.js";
import { followLogs } from "./follow-logs.js";
import { entryFilter, newestEntries } from "./read-logs.js";
import { WorkerLog } from "./worker-log.js";

const maxEntriesPerRing = 10_000;
/** Approximate memory of an entry besides its texts. */
const entryOverheadBytes = 96;
/** Approximate memory of the fields of a request besides its path. */
const requestOverheadBytes = 256;

export type NewLogEntry = Omit<LogEntry, "id" | "time" | "worker" | "request"> & { readonly name: string };
export type NewRequestEntry = Pick<LogEntry, "version" | "level" | "text"> & { readonly name: string; readonly request: LoggedRequest };

/** One worker, or all workers whose name passes. */
export type LogSelection = string | ((name: string) => boolean);

export interface WorkerLogsOptions {
  /** For the output of a worker, and again for its requests. */
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
  readonly #changes = new ChangeSignal();
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

  /** Writes output of the worker, or a message of the daemon about it. */
  write({ name, version, level, source, text }: NewLogEntry): void {
    // Copied: a substring would retain the whole original string.
    const bytes = Buffer.from(cutText(text));
    const log = this.#touch(name);
    const entry = { ...this.#stamp(name), version, level, source, text: bytes.toString() };
    this.#append(log, log.output, entry, bytes.length + entryOverheadBytes);
  }

  /** Writes a request that has ended. */
  writeRequest({ name, version, level, text, request }: NewRequestEntry): void {
    const log = this.#touch(name);
    const entry = { ...this.#stamp(name), version, level, source: "request" as const, text, request };
    this.#append(log, log.requests, entry, text.length + request.path.length + entryOverheadBytes + requestOverheadBytes);
  }

  /** Returns the matching entries, oldest first. */
  read(selection: LogSelection, query: LogFilter): { entries: LogEntry[]; hasMore: boolean } {
    return newestEntries(this.#ringsOf(selection), entryFilter(query), query.limit);
  }

  /** Whether the log still has an entry of this version. */
  knows(name: string, version: string): boolean {
    return this.read(name, { version, limit: 1 }).entries.length > 0;
  }

  /**
   * Yields matching entries, then new ones in batches, until the signal aborts or the one selected worker is deleted. `lastEventId`: yields
   * all entries after it. A reader that is too slow gets a notice about dropped entries.
   */
  async *follow(
    selection: LogSelection,
    query: LogFilter,
    from: { lastEventId: number | undefined; signal: AbortSignal },
  ): AsyncGenerator<LogEntry[]> {
    // An unknown id does not tell which entries its reader has seen.
    const lastEventId = from.lastEventId !== undefined && from.lastEventId < this.#nextId ? from.lastEventId : undefined;
    const newestId = () => this.#nextId - 1;
    if (typeof selection === "string") yield* this.#followOne(selection, query, { ...from, lastEventId, newestId });
    else {
      const rings = () => this.#ringsOf(selection);
      yield* followLogs({ rings, changes: this.#changes, isEnded: () => false, newestId }, query, { ...from, lastEventId });
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
    log.changes.notify();
  }

  async *#followOne(
    name: string,
    query: LogFilter,
    { newestId, ...from }: { lastEventId: number | undefined; signal: AbortSignal; newestId: () => number },
  ): AsyncGenerator<LogEntry[]> {
    const log = this.#logs.get(name) ?? new WorkerLog();
    if (!this.#logs.has(name)) this.#logs.set(name, log);
    log.followerCount += 1;
    try {
      yield* followLogs({ rings: () => log.rings, changes: log.changes, isEnded: () => log.isForgotten, newestId }, query, from);
    } finally {
      log.followerCount -= 1;
      this.#removeIfUnused(name, log);
    }
  }

  #ringsOf(selection: LogSelection): EntryRing[] {
    if (typeof selection === "string") return [...(this.#logs.get(selection)?.rings ?? [])];
    return [...this.#logs].flatMap(([name, log]) => (selection(name) ? log.rings : []));
  }

  /** Returns the log of a worker and makes it the one with the newest write. */
  #touch(name: string): WorkerLog {
    const log = this.#logs.get(name) ?? new WorkerLog();
    this.#logs.delete(name);
    this.#logs.set(name, log);
    return log;
  }

  #stamp(worker: string): Pick<LogEntry, "id" | "time" | "worker"> {
    const id = this.#nextId;
    this.#nextId += 1;
    return { id, time: this.#options.now(), worker };
  }

  #append(log: WorkerLog, ring: EntryRing, entry: LogEntry, sizeBytes: number): void {
    this.#totalBytes += sizeBytes;
    ring.append(entry, sizeBytes);
    while (ring.sizeBytes > this.#bytesPerWorker || ring.entryCount > maxEntriesPerRing) this.#dropOldest(ring);
    if (this.#totalBytes > this.#options.totalBytes) this.#dropLeastRecent(log, ring);
    log.changes.notify();
    this.#changes.notify();
  }

  #dropOldest(ring: EntryRing): void {
    const before = ring.sizeBytes;
    ring.dropOldest();
    this.#totalBytes -= before - ring.sizeBytes;
  }

  /** Drops the logs of other workers, then the oldest entries of the other ring of the current worker, then those of its current ring. */
  #dropLeastRecent(current: WorkerLog, currentRing: EntryRing): void {
    const { totalBytes } = this.#options;
    for (const [name, log] of this.#logs) {
      if (this.#totalBytes <= totalBytes || log === current) break;
      this.#totalBytes -= log.sizeBytes;
      log.clear();
      this.#removeIfUnused(name, log);
    }
    const otherRing = currentRing === current.output ? current.requests : current.output;
    for (const ring of [otherRing, currentRing]) while (this.#totalBytes > totalBytes && ring.entryCount > 0) this.#dropOldest(ring);
  }

  #removeIfUnused(name: string, log: WorkerLog): void {
    if (log.isEmpty && log.followerCount === 0 && this.#logs.get(name) === log) this.#logs.delete(name);
  }
}
