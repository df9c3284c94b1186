import type { LogEntry } from "../../../shared/contract/worker-logs.js";

/** Dropped entries are removed from the array once there are this many. */
const compactAfter = 1024;

interface Kept {
  readonly entry: LogEntry;
  readonly sizeBytes: number;
}

/** The newest entries of one worker. Positions count all entries ever written, so a reader can detect missed ones. */
export class WorkerLog {
  #kept: Kept[] = [];
  /** Index of the oldest entry in `#kept`. */
  #head = 0;
  #sizeBytes = 0;
  /** Position of the oldest entry. */
  #start = 0;
  #droppedThroughId = 0;
  #waiting = new Set<() => void>();
  /** Number of followers that use this object. */
  followerCount = 0;
  /** The worker was deleted; no entry follows. */
  isForgotten = false;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get entryCount(): number {
    return this.#kept.length - this.#head;
  }

  /** Position of the oldest entry. */
  get start(): number {
    return this.#start;
  }

  /** Position of the next new entry. */
  get end(): number {
    return this.#start + this.entryCount;
  }

  /** Id of the newest dropped entry; 0 = none. */
  get droppedThroughId(): number {
    return this.#droppedThroughId;
  }

  at(position: number): LogEntry | undefined {
    return this.#kept[position - this.#start + this.#head]?.entry;
  }

  append(entry: LogEntry, sizeBytes: number): void {
    this.#kept.push({ entry, sizeBytes });
    this.#sizeBytes += sizeBytes;
  }

  dropOldest(): void {
    const oldest = this.#kept[this.#head];
    if (!oldest) return;
    this.#sizeBytes -= oldest.sizeBytes;
    this.#droppedThroughId = oldest.entry.id;
    this.#start += 1;
    this.#head += 1;
    if (this.#head < compactAfter && this.#head < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#head);
    this.#head = 0;
  }

  clear(): void {
    while (this.entryCount > 0) this.dropOldest();
  }

  /** Returns the position of the first entry with a higher id. */
  positionAfter(id: number): number {
    let position = this.end;
    while (position > this.#start && (this.at(position - 1) as LogEntry).id > id) position -= 1;
    return position;
  }

  /** Returns the newest matching entries, oldest first, and whether older ones match. */
  newest(passes: (entry: LogEntry) => boolean, limit: number): { entries: LogEntry[]; hasMore: boolean } {
    const entries: LogEntry[] = [];
    for (let position = this.end - 1; position >= this.#start; position -= 1) {
      const entry = this.at(position) as LogEntry;
      if (!passes(entry)) continue;
      if (entries.length === limit) return { entries: entries.toReversed(), hasMore: true };
      entries.push(entry);
    }
    return { entries: entries.toReversed(), hasMore: false };
  }

  /** Resolves at the next change, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  wake(): void {
    if (this.#waiting.size > 0) for (const wake of this.#waiting) wake();
  }
}
