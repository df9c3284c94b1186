import type { LogEntry, LogFilter, LoggedRequest } from "../../../shared/contract/worker-logs.js";
import { cutText } from "../protocol/log-text.js";
import { ChangeSignal } from "../../../shared/change-signal.js";
import type { EntryRing } from "./entry-ring.js";
import { followLogs, missingNotice, type FollowedLogs } from "./follow-logs.js";
import { entryFilter, newestEntries } from "./read-logs.js";
import type { LogRetention } from "./log-retention.js";
import { addStoredEntries, byId, type FirstIdsInMemory } from "./stored-entries.js";
import { WorkerLog } from "./worker-log.js";
import { KeyedLock } from "../../platform/keyed-lock.js";

const maxEntriesPerRing = 10_000;
/** Approximate memory in bytes of a log entry without its texts. */
const entryOverheadBytes = 96;
/** Approximate memory in bytes of a logged request without its path. */
const requestOverheadBytes = 256;

export type NewLogEntry = Omit<LogEntry, "id" | "time" | "worker" | "request"> & { readonly name: string };
export type NewRequestEntry = Pick<LogEntry, "version" | "level" | "text"> & { readonly name: string; readonly request: LoggedRequest };

/** The selected workers: a list of names, or a function that returns whether a name is selected. */
export type LogSelection = readonly string[] | ((name: string) => boolean);

/** Maximum number of entries that the daemon reads from files when a reader resumes. */
const maxResumedEntries = 10_000;

export interface WorkerLogsOptions {
  /** Memory limit in bytes for the output of a worker. The requests of the worker have a separate limit of the same size. */
  readonly bytesPerWorker: number;
  readonly totalBytes: number;
  /** Returns the current Unix time in milliseconds. */
  readonly now: () => number;
  /** Stores entries on disk. If undefined, entries are only in memory. */
  readonly retention?: LogRetention | undefined;
  /** Called with each entry of the level `error`. */
  readonly onError?: ((entry: LogEntry) => void) | undefined;
}

/**
 * The logs of all workers. Memory contains the newest entries, and files contain older ones. Above the limit per worker, memory drops its
 * oldest entries. Above the total limit, it drops the log whose last write is oldest.
 */
export class WorkerLogs {
  readonly #options: WorkerLogsOptions;
  /** Logs in the order of their last write, oldest first. */
  readonly #logs = new Map<string, WorkerLog>();
  readonly #changes = new ChangeSignal();
  readonly #readsOfAll = new KeyedLock();
  readonly #bytesPerWorker: number;
  #totalBytes = 0;
  /** The log to which the most recent entry was written. */
  #lastWrite: { name: string; log: WorkerLog } | undefined;
  #nextId: number;

  constructor(options: WorkerLogsOptions) {
    this.#options = options;
    this.#bytesPerWorker = Math.min(options.bytesPerWorker, options.totalBytes);
    // Starts above the ids of earlier daemon processes, so that readers can resume after a restart.
    this.#nextId = options.now() * 1000;
  }

  get sizeBytes(): number {
    return this.#totalBytes;
  }

  /** Writes output of the worker, or a message of the daemon about the worker. */
  write({ name, version, level, source, text }: NewLogEntry): void {
    // Copies the text. A substring would keep the original text in memory.
    const bytes = Buffer.from(cutText(text));
    const log = this.#touch(name);
    const entry = { ...this.#stamp(name), version, level, source, text: bytes.toString() };
    this.#append(log, { ring: log.output, entry, sizeBytes: bytes.length + entryOverheadBytes });
  }

  /** Writes the log entry of a completed request. */
  writeRequest({ name, version, level, text, request }: NewRequestEntry): void {
    const log = this.#touch(name);
    // Lists all fields here. Copying the properties of another object would take more time than the rest of this function.
    const entry = { id: this.#nextId, time: this.#options.now(), worker: name, version, level, source: "request" as const, text, request };
    this.#nextId += 1;
    const sizeBytes = text.length + request.path.length + entryOverheadBytes + requestOverheadBytes;
    this.#append(log, { ring: log.requests, entry, sizeBytes });
  }

  /** Returns the newest matching entries from memory and files, oldest first. `hasMore` is true if older entries match. */
  async read(selection: LogSelection, query: LogFilter): Promise<{ entries: LogEntry[]; hasMore: boolean }> {
    // Reads one more entry than the limit, to find out whether there are older matching entries.
    const limit = query.limit + 1;
    const passes = entryFilter(query);
    const inMemory = newestEntries(this.#ringsOf(selection), passes, limit).entries;
    const entries = await this.#addFromFiles(inMemory, { selection, passes, limit, sinceMs: query.sinceMs });
    return { entries: entries.slice(-query.limit), hasMore: entries.length > query.limit };
  }

  /** Returns the matching entries that are in memory, oldest first. */
  readMemory(selection: LogSelection, query: LogFilter): { entries: LogEntry[]; hasMore: boolean } {
    return newestEntries(this.#ringsOf(selection), entryFilter(query), query.limit);
  }

  /** Returns whether the log still contains an entry of this version. */
  async knows(name: string, version: string): Promise<boolean> {
    return (await this.read([name], { version, limit: 1 })).entries.length > 0;
  }

  /** Writes the entries that only memory contains to the files. */
  async close(): Promise<void> {
    await this.#options.retention?.write();
  }

  /**
   * Yields matching entries, then new entries in batches. Ends when `signal` aborts, or when the only selected worker is deleted. With
   * `lastEventId`, begins after this entry. A slow reader receives a notice about dropped entries.
   */
  async *follow(
    selection: LogSelection,
    query: LogFilter,
    from: { lastEventId: number | undefined; signal: AbortSignal },
  ): AsyncGenerator<LogEntry[]> {
    // Ignores an id that this daemon has not assigned, because it does not show which entries the reader has received.
    const lastEventId = from.lastEventId !== undefined && from.lastEventId < this.#nextId ? from.lastEventId : undefined;
    const start = { ...from, lastEventId };
    const followed = {
      rings: () => this.#ringsOf(selection),
      history: (wanted: LogFilter, afterId: number | undefined) => this.#history(selection, wanted, afterId),
      changes: this.#changes,
      isEnded: () => false,
      newestId: () => this.#nextId - 1,
    };
    const name = typeof selection === "function" || selection.length > 1 ? undefined : selection[0];
    if (name !== undefined) yield* this.#followOne(name, followed, { query, start });
    else yield* followLogs(followed, query, start);
  }

  /** Deletes the log of a deleted worker and ends the streams of its readers. */
  forget(name: string): void {
    this.#options.retention?.forget(name);
    const log = this.#logs.get(name);
    if (!log) return;
    this.#logs.delete(name);
    this.#totalBytes -= log.sizeBytes;
    log.clear();
    log.isForgotten = true;
    log.changes.notify();
  }

  async #history(selection: LogSelection, query: LogFilter, afterId: number | undefined): Promise<LogEntry[]> {
    if (afterId === undefined) return (await this.read(selection, query)).entries;
    const matches = entryFilter(query);
    const passes = (entry: LogEntry) => entry.id > afterId && matches(entry);
    const rings = this.#ringsOf(selection);
    const inMemory = newestEntries(rings, passes, Number.MAX_SAFE_INTEGER - 1).entries;
    if (!this.#options.retention) return byId([...noticesOf(rings, afterId), ...inMemory]);
    const inFiles = await this.#addFromFiles([], { selection, passes, limit: maxResumedEntries + 1, leastId: afterId + 1 });
    const [first] = inFiles;
    if (first && inFiles.length > maxResumedEntries) inFiles[0] = missingNotice(first);
    return byId([...inFiles, ...inMemory]);
  }

  /**
   * Returns a function that takes a worker name. The function returns the ids from which memory contained all entries of the worker at the
   * time of this call.
   */
  #firstIdsInMemory(): (name: string) => FirstIdsInMemory {
    const nextId = this.#nextId;
    const firstIds = new Map(
      [...this.#logs].map(([name, { createdId, output, requests }]) => {
        const firstId = (ring: EntryRing) => Math.max(createdId, ring.droppedThroughId + 1);
        return [name, { output: firstId(output), requests: firstId(requests) }];
      }),
    );
    return (name) => firstIds.get(name) ?? { output: nextId, requests: nextId };
  }

  /**
   * Adds entries from the files by `addStoredEntries`. For a selector function, only one read runs at a time, because it can take minutes
   * if few entries match.
   */
  async #addFromFiles(
    inMemory: readonly LogEntry[],
    { selection, ...wanted }: Omit<Parameters<typeof addStoredEntries>[2], "firstIdsOf"> & { readonly selection: LogSelection },
  ): Promise<LogEntry[]> {
    const { retention } = this.#options;
    if (!retention) return [...inMemory];
    const { files } = retention;
    const firstIdsOf = this.#firstIdsInMemory();
    await retention.write();
    if (typeof selection !== "function")
      return addStoredEntries(files, { inMemory, stored: selection.map((name) => ({ name })) }, { ...wanted, firstIdsOf });
    return this.#readsOfAll.run("all", async () => {
      const stored = (await files.list()).filter(({ name }) => selection(name));
      return addStoredEntries(files, { inMemory, stored }, { ...wanted, firstIdsOf });
    });
  }

  async *#followOne(
    name: string,
    logs: FollowedLogs,
    { query, start }: { query: LogFilter; start: { lastEventId: number | undefined; signal: AbortSignal } },
  ): AsyncGenerator<LogEntry[]> {
    const log = this.#logs.get(name) ?? new WorkerLog(this.#nextId);
    if (!this.#logs.has(name)) this.#logs.set(name, log);
    log.followerCount += 1;
    try {
      yield* followLogs({ ...logs, changes: log.changes, isEnded: () => log.isForgotten }, query, start);
    } finally {
      log.followerCount -= 1;
      this.#removeIfUnused(name, log);
    }
  }

  #ringsOf(selection: LogSelection): EntryRing[] {
    if (typeof selection !== "function") return selection.flatMap((name) => this.#logs.get(name)?.rings ?? []);
    return [...this.#logs].flatMap(([name, log]) => (selection(name) ? log.rings : []));
  }

  /** Returns the log of a worker, and moves it to the end of `#logs`, which is in the order of the last write. */
  #touch(name: string): WorkerLog {
    if (this.#lastWrite?.name === name && this.#logs.get(name) === this.#lastWrite.log) return this.#lastWrite.log;
    const log = this.#logs.get(name) ?? new WorkerLog(this.#nextId);
    this.#logs.delete(name);
    this.#logs.set(name, log);
    this.#lastWrite = { name, log };
    return log;
  }

  #stamp(worker: string): Pick<LogEntry, "id" | "time" | "worker"> {
    const id = this.#nextId;
    this.#nextId += 1;
    return { id, time: this.#options.now(), worker };
  }

  #append(log: WorkerLog, { ring, entry, sizeBytes }: { ring: EntryRing; entry: LogEntry; sizeBytes: number }): void {
    this.#totalBytes += sizeBytes;
    ring.append(entry, sizeBytes);
    while (ring.sizeBytes > this.#bytesPerWorker || ring.entryCount > maxEntriesPerRing) this.#dropOldest(ring);
    if (this.#totalBytes > this.#options.totalBytes) this.#dropLeastRecent(log, ring);
    this.#options.retention?.noteChange(entry.worker, log);
    if (entry.level === "error") this.#options.onError?.(entry);
    log.changes.notify();
    this.#changes.notify();
  }

  #dropOldest(ring: EntryRing): void {
    const before = ring.sizeBytes;
    ring.dropOldest();
    this.#totalBytes -= before - ring.sizeBytes;
  }

  /**
   * Drops entries until the total size is below the limit. Drops the logs of other workers first, then the oldest entries in the other ring
   * of the current log, then those in `currentRing`.
   */
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

/** Returns one notice for each ring that has dropped an entry with an id above `afterId`. */
function noticesOf(rings: readonly EntryRing[], afterId: number): LogEntry[] {
  return rings.flatMap((ring) => {
    const { newestDropped } = ring;
    return newestDropped && newestDropped.id > afterId ? [missingNotice(newestDropped)] : [];
  });
}
