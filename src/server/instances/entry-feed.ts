import { ChangeSignal } from "../../shared/change-signal.js";

/** Number of waiting entries at which the feed stops reading. The daemon of the entries then keeps them, or drops its oldest ones. */
const mostWaiting = 256;
/** Time in ms for which a feed without entries can still receive entries that are older than those of other feeds. */
const orderMs = 200;

/** The entries of one daemon that wait for the client of a merged stream. */
export class EntryFeed<Item> {
  readonly daemonId: string;
  readonly #waiting: Item[] = [];
  readonly #taken = new ChangeSignal();
  readonly #onChange: () => void;
  #isEnded = false;
  #emptySinceMs = performance.now();

  /** `onChange` is called after entries have arrived, and at the end of the feed. */
  constructor(daemonId: string, onChange: () => void) {
    this.daemonId = daemonId;
    this.#onChange = onChange;
  }

  /** The oldest waiting entry. */
  get head(): Item | undefined {
    return this.#waiting[0];
  }

  /** True if no entry waits, and no further entry arrives. */
  get isFinished(): boolean {
    return this.#isEnded && this.#waiting.length === 0;
  }

  /** Returns the time in ms for which entries of other feeds wait for this one. `nowMs` is a time of `performance.now()`. */
  waitMs(nowMs: number): number {
    return this.#isEnded || this.#waiting.length > 0 ? 0 : Math.max(0, this.#emptySinceMs + orderMs - nowMs);
  }

  /** Reads until the batches end or the signal aborts. Omits entries that `isNew` rejects. Throws the error of the batches. */
  async read(batches: AsyncIterable<readonly Item[]>, isNew: (entry: Item) => boolean, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of batches) {
        this.#waiting.push(...batch.filter(isNew));
        this.#onChange();
        while (this.#waiting.length >= mostWaiting && !signal.aborted) await this.#taken.changed(signal);
        if (signal.aborted) return;
      }
    } finally {
      this.#isEnded = true;
      this.#onChange();
    }
  }

  /** Removes the oldest waiting entry. */
  take(nowMs: number): void {
    this.#waiting.shift();
    if (this.#waiting.length === 0) this.#emptySinceMs = nowMs;
    this.#taken.notify();
  }
}
