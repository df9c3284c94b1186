import { clearTimeout, setTimeout } from "node:timers";

const entriesPerSecond = 200;
const bytesPerSecond = 1024 * 1024;

/** Lets through so many entries and bytes of output a second, and tells how many it did not. */
export class OutputLimiter {
  readonly #onDropped: (count: number) => void;
  readonly #share: number;
  #entries = 0;
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onDropped` hears once a second how many did not pass; `share` multiplies what does. */
  constructor(onDropped: (count: number) => void, share = 1) {
    this.#onDropped = onDropped;
    this.#share = share;
  }

  /** Whether an entry of this size passes; one that does not is counted. */
  admits(bytes: number): boolean {
    this.#timer ??= setTimeout(() => this.report(), 1000).unref();
    if (this.#entries >= entriesPerSecond * this.#share || this.#bytes >= bytesPerSecond * this.#share) {
      this.drop();
      return false;
    }
    this.#entries += 1;
    this.#bytes += bytes;
    return true;
  }

  /** Counts an entry that cannot pass for another reason. */
  drop(): void {
    this.#timer ??= setTimeout(() => this.report(), 1000).unref();
    this.#dropped += 1;
  }

  /** Tells what was dropped so far and begins again. */
  report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const count = this.#dropped;
    this.#entries = this.#bytes = this.#dropped = 0;
    if (count > 0) this.#onDropped(count);
  }
}
