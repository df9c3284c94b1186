import type { LogEntry } from "../../../shared/contract/worker-logs.js";

/** Number of dropped entries at which the ring buffer removes their elements from its arrays. */
const compactAfter = 1024;

/** The fields of a dropped log entry that the notice about dropped entries needs. */
export type DroppedEntry = Pick<LogEntry, "id" | "time" | "worker" | "version">;

/**
 * Ring buffer of the newest log entries of one kind. A position counts all entries since the beginning, so that a reader can detect dropped
 * entries.
 */
export class EntryRing {
  #entries: LogEntry[] = [];
  /** Size of each entry in bytes. A separate array of numbers needs less memory than an object per entry. */
  #sizes: number[] = [];
  /** Index of the oldest entry in `#entries` and `#sizes`. */
  #head = 0;
  #sizeBytes = 0;
  /** Position of the oldest entry in the ring buffer. */
  #start = 0;
  #newestDropped: DroppedEntry | undefined;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get entryCount(): number {
    return this.#entries.length - this.#head;
  }

  /** Position of the oldest entry in the ring buffer. */
  get start(): number {
    return this.#start;
  }

  /** Position of the next entry that will be appended. */
  get end(): number {
    return this.#start + this.entryCount;
  }

  /** Id of the newest dropped entry; 0 if no entry was dropped. */
  get droppedThroughId(): number {
    return this.#newestDropped?.id ?? 0;
  }

  get newestDropped(): DroppedEntry | undefined {
    return this.#newestDropped;
  }

  at(position: number): LogEntry | undefined {
    return this.#entries[position - this.#start + this.#head];
  }

  append(entry: LogEntry, sizeBytes: number): void {
    this.#entries.push(entry);
    this.#sizes.push(sizeBytes);
    this.#sizeBytes += sizeBytes;
  }

  dropOldest(): void {
    const oldest = this.#entries[this.#head];
    if (!oldest) return;
    this.#sizeBytes -= this.#sizes[this.#head] as number;
    const { id, time, worker, version } = oldest;
    // Copies the fields. A reference to the entry would keep its text in memory.
    this.#newestDropped = { id, time, worker, version };
    this.#start += 1;
    this.#head += 1;
    if (this.#head < compactAfter && this.#head < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#sizes = this.#sizes.slice(this.#head);
    this.#head = 0;
  }

  clear(): void {
    while (this.entryCount > 0) this.dropOldest();
  }

  /** Returns the position of the first entry whose id is above `id`. */
  positionAfter(id: number): number {
    let [low, high] = [this.#start, this.end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.at(middle) as LogEntry).id > id) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Returns the newest matching entries with ids above `leastId`: at most `limit` entries, oldest first. */
  newest(passes: (entry: LogEntry) => boolean, { limit, leastId }: { limit: number; leastId: number }): LogEntry[] {
    const entries: LogEntry[] = [];
    for (let position = this.end - 1; position >= this.#start && entries.length < limit; position -= 1) {
      const entry = this.at(position) as LogEntry;
      if (entry.id <= leastId) break;
      if (passes(entry)) entries.push(entry);
    }
    return entries.toReversed();
  }
}
