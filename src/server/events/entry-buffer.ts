import { ChangeSignal } from "../../shared/change-signal.js";

/** Buffer of the newest entries, whose ids increase. Each follower remembers only the id of the last entry that it has received. */
export class EntryBuffer<Entry extends { readonly id: number }> {
  readonly #most: number;
  #entries: Entry[] = [];
  #newestId: number;
  #droppedThroughId: number;
  readonly #changes = new ChangeSignal();

  /** `before` is the last id before the first entry of this buffer. Followers receive no entries up to this id. */
  constructor(options: { readonly most: number; readonly before: number }) {
    this.#most = options.most;
    this.#newestId = options.before;
    this.#droppedThroughId = options.before;
  }

  get newestId(): number {
    return this.#newestId;
  }

  /** The highest id that the buffer no longer contains. Includes the ids from the time before this buffer. */
  get droppedThroughId(): number {
    return this.#droppedThroughId;
  }

  add(entries: readonly Entry[]): void {
    this.#entries.push(...entries);
    this.#newestId = this.#entries.at(-1)?.id ?? this.#newestId;
    // Drops half of the entries at once. A drop moves all remaining entries in memory, so many small drops would be slow.
    if (this.#entries.length > 2 * this.#most) this.#drop();
    this.#changes.notify();
  }

  /** Returns the first `most` entries with an id above `id`. */
  after(id: number, most: number): readonly Entry[] {
    let index = this.#entries.length;
    while (index > 0 && (this.#entries[index - 1] as Entry).id > id) index -= 1;
    return this.#entries.slice(index, index + most);
  }

  /** Resolves when an entry with an id above `id` exists, or when the signal aborts. */
  async changed(id: number, signal: AbortSignal): Promise<void> {
    if (this.#newestId <= id) await this.#changes.changed(signal);
  }

  #drop(): void {
    const dropped = this.#entries.splice(0, this.#entries.length - this.#most);
    this.#droppedThroughId = dropped.at(-1)?.id ?? this.#droppedThroughId;
  }
}
