import { setTimeout as delay } from "node:timers/promises";
import { AuditEntry, type AuditFilter } from "../../shared/contract/audit.js";
import { isWantedType } from "../../shared/contract/changes.js";
import type { Log } from "../log/log.js";
import { EntryBuffer } from "./entry-buffer.js";
import { AuditFiles, type AuditFilesOptions } from "./audit-files.js";

/**
 * Maximum number of entries that wait in memory while the disk is full or failing. The daemon only counts the entries above this number.
 */
const mostWaiting = 1000;
/** Maximum number of entries that the daemon writes and syncs at once. All other entries wait for the next write. */
const batchEntries = 100;
/**
 * Maximum time that the response to a change waits for its audit entry. After this time, the daemon sends the response although the entry
 * is not on the disk.
 */
const longestWaitMs = 2000;
const retryMs = 5000;
/** Number of newest entries in memory. Clients that follow the audit log read these entries. */
const keptEntries = 500;
const followLimit = 1000;

export type NewAuditEntry = Omit<AuditEntry, "id" | "at">;

interface Waiting {
  readonly entry: AuditEntry;
  readonly isSynced: boolean;
  readonly onSettled: () => void;
}

/** Counts of audit log entries since the daemon started. */
export interface AuditCounts {
  readonly written: number;
  /** Number of entries that the daemon has not written: failed attempts above the limit, and entries for which the memory was full. */
  readonly skipped: number;
  /** Number of entries in memory that wait for the disk. */
  readonly waiting: number;
}

export interface AuditLogOptions extends AuditFilesOptions {
  /** Returns the current time in Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * The audit log of all changes. The caller of a change receives the response after the entry is on the disk. If the disk fails, the change
 * stays valid and the entry waits in memory. Requests to workers never wait for the audit log.
 */
export class AuditLog {
  readonly #files: AuditFiles;
  readonly #options: AuditLogOptions;
  readonly #recent: EntryBuffer<AuditEntry>;
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  #nextId: number;
  #writing: Promise<void> | undefined;
  #written = 0;
  #skipped = 0;
  /** Number of skipped entries since the last `audit.skipped` entry. */
  #unreportedCount = 0;
  #isFailing = false;

  private constructor(options: AuditLogOptions, files: AuditFiles, lastId: number) {
    this.#options = options;
    this.#files = files;
    // Continues above the last id in the files if the clock was set back, so that ids always increase.
    this.#nextId = Math.max(options.now() * 1000, lastId + 1);
    this.#recent = new EntryBuffer({ most: keptEntries, before: this.#nextId - 1 });
  }

  /** Opens the audit log, even if the disk is not writable. */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    const files = new AuditFiles(options);
    let lastId = 0;
    for await (const lines of files.linesBackwards()) {
      lastId = entriesOf(lines)[0]?.id ?? 0;
      if (lastId > 0) break;
    }
    return new AuditLog(options, files, lastId);
  }

  get counts(): AuditCounts {
    return { written: this.#written, skipped: this.#skipped, waiting: this.#waiting.length };
  }

  /** Records an entry. For a synced entry, resolves when the entry is on the disk, or after 2 s. Never throws. */
  async record(entry: NewAuditEntry, { isSynced }: { isSynced: boolean }): Promise<void> {
    if (this.#waiting.length >= mostWaiting) return this.skip();
    if (this.#unreportedCount > 0) this.#addSkippedEntry(entry);
    if (this.#isFailing) return this.#add(entry, isSynced, () => undefined);
    const settled = new Promise<void>((resolve) => this.#add(entry, isSynced, resolve));
    const timer = new AbortController();
    await Promise.race([settled, delay(longestWaitMs, undefined, { signal: timer.signal, ref: false }).catch(() => undefined)]);
    timer.abort();
  }

  /** Counts an entry that the daemon does not write. The next recorded entry is preceded by an `audit.skipped` entry with the count. */
  skip(): void {
    this.#skipped += 1;
    this.#unreportedCount += 1;
  }

  /** Returns the newest entries that match the filter, oldest first. */
  async read(filter: Query): Promise<{ entries: AuditEntry[]; hasMore: boolean }> {
    const passes = auditFilter(filter);
    const entries: AuditEntry[] = [];
    for await (const lines of this.#files.linesBackwards())
      for (const entry of entriesOf(lines)) {
        const isBeyond = entry.id <= (filter.after ?? 0) || entry.at < (filter.sinceMs ?? 0);
        if (isBeyond || (entries.length === filter.limit && passes(entry))) return { entries: entries.toReversed(), hasMore: !isBeyond };
        if (passes(entry)) entries.push(entry);
      }
    return { entries: entries.toReversed(), hasMore: false };
  }

  /**
   * Yields the entries that match the filter. With `lastEventId`, yields only the entries after this id. Then yields new entries in batches
   * until the signal aborts.
   */
  async *follow(filter: Query, lastEventId: number | undefined, signal: AbortSignal): AsyncGenerator<AuditEntry[]> {
    const passes = auditFilter({ ...filter, before: undefined });
    let seenId = this.#recent.newestId;
    if (lastEventId === undefined) {
      const { entries } = await this.read(filter);
      seenId = Math.max(seenId, entries.at(-1)?.id ?? 0);
      if (entries.length > 0) yield entries;
    } else seenId = Math.min(lastEventId, seenId);
    while (!signal.aborted) {
      const isBehind = seenId < this.#recent.droppedThroughId;
      const next = isBehind ? (await this.read({ limit: followLimit, after: seenId })).entries : this.#recent.after(seenId, followLimit);
      seenId = next.at(-1)?.id ?? Math.max(seenId, this.#recent.droppedThroughId);
      const batch = next.filter((entry) => passes(entry));
      if (batch.length > 0) yield batch;
      await this.#recent.changed(seenId, signal);
    }
  }

  /** Writes the waiting entries unless the disk is not writable. Then closes the files. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    while (this.#waiting.length > 0 && (await this.#write())) continue;
    if (this.#waiting.length > 0)
      this.#options.log.error(
        { count: this.#waiting.length },
        "entries of the audit log are lost, because the disk was not writable when the daemon stopped",
      );
    await this.#files.close();
  }

  #add(entry: NewAuditEntry, isSynced: boolean, onSettled: () => void): void {
    this.#waiting.push({ entry: { id: this.#nextId, at: this.#options.now(), ...entry }, isSynced, onSettled });
    this.#nextId += 1;
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
  }

  #addSkippedEntry({ clientAddress, requestId }: NewAuditEntry): void {
    const skippedCount = this.#unreportedCount;
    this.#unreportedCount = 0;
    this.#add({ action: "audit.skipped", outcome: "failed", clientAddress, requestId, skippedCount }, false, () => undefined);
  }

  async #writeAll(): Promise<void> {
    // Waits until the current turn of the event loop ends. One sync then covers all entries of this turn.
    await Promise.resolve();
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      if (await this.#write()) continue;
      await delay(retryMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
    }
  }

  /** Writes a batch of waiting entries. Returns false if the disk is not writable. */
  async #write(): Promise<boolean> {
    const batch = this.#waiting.slice(0, batchEntries);
    const [first] = batch;
    if (!first) return true;
    const lines = batch.map(({ entry }) => `${JSON.stringify(entry)}\n`).join("");
    try {
      await this.#files.append(lines, first.entry.id, { isSynced: batch.some(({ isSynced }) => isSynced) });
    } catch (error) {
      if (!this.#isFailing)
        this.#options.log.error(
          { err: error },
          "the audit log cannot be written, so new entries wait in memory: check the free space and the permissions of the state directory",
        );
      this.#isFailing = true;
      for (const { onSettled } of this.#waiting) onSettled();
      return false;
    }
    if (this.#isFailing) this.#options.log.info("the audit log can be written again");
    this.#isFailing = false;
    this.#waiting.splice(0, batch.length);
    this.#written += batch.length;
    this.#recent.add(batch.map(({ entry }) => entry));
    for (const { onSettled } of batch) onSettled();
    return true;
  }
}

/** Parses lines of the audit log. Skips lines that are incomplete or that another version of the daemon wrote. */
function entriesOf(lines: readonly string[]): AuditEntry[] {
  return lines.flatMap((line) => {
    try {
      return AuditEntry.safeParse(JSON.parse(line)).data ?? [];
    } catch {
      return [];
    }
  });
}

type Query = AuditFilter & { readonly after?: number; readonly isVisible?: (entry: AuditEntry) => boolean };

function auditFilter(query: Query): (entry: AuditEntry) => boolean {
  return (entry) => fits(entry, query) && (query.isVisible?.(entry) ?? true);
}

function fits({ id, at, action, principal: who }: AuditEntry, { sinceMs, principal, actions, before }: Query): boolean {
  return (
    id < (before ?? Infinity) &&
    at >= (sinceMs ?? 0) &&
    isWantedType(action, actions) &&
    (principal === undefined || who?.name === principal || String(who?.id) === principal)
  );
}
