import { ChangeSignal } from "../../shared/change-signal.js";

/**
 * Number of waiting entries, and their total length, at which the feed stops reading. The sending daemon then keeps further entries in
 * memory, or drops its oldest entries.
 */
const mostWaiting = { entries: 256, characters: 64 * 1024 };
/** Time in ms for which an entry waits for older entries that other daemons possibly send. */
const orderMs = 200;

/** An entry that waits. `size` is its length as JSON in characters. `arrivedMs` is a time of `performance.now()`. */
interface WaitingEntry<Item> {
  readonly entry: Item;
  readonly size: number;
  readonly arrivedMs: number;
}

/** Reads the entries of one daemon, and keeps them until the merged stream takes them. */
export class EntryFeed<Item> {
  readonly daemonId: string;
  readonly #waiting: WaitingEntry<Item>[] = [];
  readonly #taken = new ChangeSignal();
  readonly #onChange: () => void;
  #characters = 0;
  #isEnded = false;
  #emptySinceMs = performance.now();

  /** `onChange` is called after entries have arrived, and at the end of the feed. */
  constructor(daemonId: string, onChange: () => void) {
    this.daemonId = daemonId;
    this.#onChange = onChange;
  }

  /** The entry that has waited longest. */
  get head(): WaitingEntry<Item> | undefined {
    return this.#waiting[0];
  }

  /** True if no entry waits, and no further entry arrives. */
  get isFinished(): boolean {
    return this.#isEnded && this.#waiting.length === 0;
  }

  /** Reads until the batches end or the signal aborts. Omits entries that `isWanted` rejects. Throws the error of the batches. */
  async read(batches: AsyncIterable<readonly Item[]>, isWanted: (entry: Item) => boolean, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of batches) {
        this.#add(batch.filter(isWanted));
        this.#onChange();
        while (this.#isFull && !signal.aborted) await this.#taken.changed(signal);
        if (signal.aborted) return;
      }
    } finally {
      this.#isEnded = true;
      this.#onChange();
    }
  }

  /** Removes the entry that has waited longest. */
  take(nowMs: number): void {
    this.#characters -= this.#waiting.shift()?.size ?? 0;
    if (this.#waiting.length === 0) this.#emptySinceMs = nowMs;
    this.#taken.notify();
  }

  /**
   * Returns how many ms the other feeds must still wait for this feed, because an older entry can arrive. Returns 0 if the feed contains
   * entries or has ended.
   */
  emptyMs(nowMs: number): number {
    return this.#isEnded || this.#waiting.length > 0 ? 0 : Math.max(0, this.#emptySinceMs + orderMs - nowMs);
  }

  #add(entries: readonly Item[]): void {
    for (const entry of entries) {
      const size = JSON.stringify(entry).length;
      this.#waiting.push({ entry, size, arrivedMs: performance.now() });
      this.#characters += size;
    }
  }

  get #isFull(): boolean {
    return this.#waiting.length >= mostWaiting.entries || this.#characters >= mostWaiting.characters;
  }
}

/**
 * Returns how many ms the received entries must still wait for older entries of empty feeds. No entry waits longer than 200 ms after its
 * arrival.
 */
export function waitMs<Item>(feeds: Iterable<EntryFeed<Item>>, nowMs: number): number {
  let [empty, due] = [0, orderMs];
  for (const feed of feeds) {
    empty = Math.max(empty, feed.emptyMs(nowMs));
    if (feed.head) due = Math.min(due, feed.head.arrivedMs + orderMs - nowMs);
  }
  return Math.max(0, Math.min(empty, due));
}
