import { setImmediate as turn } from "node:timers/promises";
import type { LogEntry, LogFilter } from "../../../shared/contract/worker-logs.js";
import { entryFilter } from "./read-logs.js";
import type { ChangeSignal } from "../../../shared/change-signal.js";
import type { DroppedEntry, EntryRing } from "./entry-ring.js";

/** Maximum number of log entries in a batch. `batchCharacters` is the total text length at which a batch is full. */
const batchEntries = 256;
const batchCharacters = 64 * 1024;

/** The logs that a reader follows. */
export interface FollowedLogs {
  /** Returns the current ring buffers. A ring buffer can appear or disappear between two calls. */
  rings(): Iterable<EntryRing>;
  /**
   * Returns the existing entries, oldest first. With `lastEventId`, returns all matching entries after it. Otherwise returns the entries
   * that the query selects.
   */
  history(query: LogFilter, lastEventId: number | undefined): Promise<LogEntry[]>;
  readonly changes: ChangeSignal;
  /** Returns true if no further entry will be added. */
  isEnded(): boolean;
  /** Returns the id of the newest entry in all logs. */
  newestId(): number;
}

/**
 * Yields the existing entries that `query` selects, or the entries after `lastEventId`. Then yields new entries in batches. A slow reader
 * takes no memory: it receives a notice in place of the entries that it missed.
 */
export async function* followLogs(
  logs: FollowedLogs,
  query: LogFilter,
  { lastEventId, signal }: { lastEventId: number | undefined; signal: AbortSignal },
): AsyncGenerator<LogEntry[]> {
  // Ignores `since` of the query for a reader that resumes, because the entries that the reader missed can be older than `since` now.
  const wanted = lastEventId !== undefined ? { ...query, sinceMs: undefined } : query;
  const newestId = logs.newestId();
  // Records the ends of the rings before it reads the history. The entries that arrive during this read come after the history.
  const ends = [...logs.rings()].map((ring) => [ring, ring.end] as const);
  const history = await logs.history(wanted, lastEventId);
  for (let index = 0; index < history.length; index += batchEntries) yield history.slice(index, index + batchEntries);
  const reader = new RingReader(entryFilter(wanted), newestId, ends);
  while (!signal.aborted && !logs.isEnded()) {
    const batch = reader.next(logs.rings());
    if (batch.length > 0) yield batch;
    // Reads again, because entries can have been appended while the caller handled the batch.
    if (reader.hasMore(logs.rings())) continue;
    if (logs.isEnded()) return;
    await logs.changes.changed(signal);
    // Waits until the current turn of the event loop ends. All entries of the turn then form one batch.
    await turn();
  }
}

/** Reads the entries of several ring buffers in the order of their ids. */
export class RingReader {
  readonly #passes: (entry: LogEntry) => boolean;
  readonly #startId: number;
  readonly #positions: WeakMap<EntryRing, number>;

  /** Starts in each ring at its position in `positions`. A ring without a position starts after the entry with the id `startId`. */
  constructor(passes: (entry: LogEntry) => boolean, startId: number, positions: Iterable<readonly [EntryRing, number]> = []) {
    this.#passes = passes;
    this.#startId = startId;
    this.#positions = new WeakMap(positions);
  }

  /** Returns whether a ring has entries that were not read yet. */
  hasMore(rings: Iterable<EntryRing>): boolean {
    return [...rings].some((ring) => this.#positionIn(ring) < ring.end);
  }

  /** Returns at most one batch of matching entries, oldest first. Notices about dropped entries come first. */
  next(rings: Iterable<EntryRing>): LogEntry[] {
    const found: { entry: LogEntry; ring: EntryRing; position: number }[] = [];
    const notices: LogEntry[] = [];
    // Maximum id in this batch. If one ring has unread entries left, entries of other rings with higher ids must wait for the next batch.
    let greatestId = Number.POSITIVE_INFINITY;
    for (const ring of rings) {
      let position = this.#positionIn(ring);
      if (position < ring.start) {
        const count = this.#positions.has(ring) ? ring.start - position : undefined;
        if (ring.newestDropped) notices.push(missingNotice(ring.newestDropped, count));
        position = ring.start;
      }
      let count = 0;
      let characters = 0;
      for (; position < ring.end && count < batchEntries && characters < batchCharacters; position += 1) {
        const entry = ring.at(position) as LogEntry;
        if (!this.#passes(entry)) continue;
        found.push({ entry, ring, position });
        count += 1;
        characters += entry.text.length;
      }
      this.#positions.set(ring, position);
      if (position < ring.end) greatestId = Math.min(greatestId, (ring.at(position - 1) as LogEntry).id);
    }
    found.sort((one, other) => one.entry.id - other.entry.id);
    const batch = found.slice(0, batchEntries).filter(({ entry }) => entry.id <= greatestId);
    // Moves the read positions back to the entries that are not part of this batch.
    for (const { ring, position } of found.slice(batch.length).toReversed()) this.#positions.set(ring, position);
    return [...notices, ...batch.map(({ entry }) => entry)];
  }

  /**
   * Returns the position of the next entry to read. If entries were dropped before they were read, the position is below the start of the
   * ring.
   */
  #positionIn(ring: EntryRing): number {
    const known = this.#positions.get(ring);
    if (known !== undefined) return known;
    const position = ring.positionAfter(this.#startId);
    return position === ring.start && this.#startId < ring.droppedThroughId ? position - 1 : position;
  }
}

/**
 * Returns the log entry that takes the place of dropped entries. The first parameter is the newest of them. `count` is their number, if
 * known.
 */
export function missingNotice({ id, time, worker, version }: DroppedEntry, count?: number): LogEntry {
  const what = count === undefined ? "Entries are" : count === 1 ? "1 entry is" : `${count} entries are`;
  const text = `${what} missing here: the log dropped ${count === 1 ? "it before it was" : "them before they were"} read.`;
  return { id, time, worker, version, level: "warn", source: "runtime", text };
}
