import { clearTimeout, setTimeout } from "node:timers";

const entriesPerSecond = 200;
const bytesPerSecond = 1024 * 1024;

/** Limits the entries and the bytes of output per second. Reports the number of dropped entries. */
export class OutputLimiter {
  readonly #onDropped: (count: number) => void;
  readonly #share: number;
  #entries = 0;
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Each second, `onDropped` receives the number of dropped entries, if there are any. `share` multiplies the limits. */
  constructor(onDropped: (count: number) => void, share = 1) {
    this.#onDropped = onDropped;
    this.#share = share;
  }

  /** Returns whether an entry of `bytes` is within the limits. If not, counts it as dropped. */
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

  /** Counts an entry that the caller dropped. */
  drop(): void {
    this.#timer ??= setTimeout(() => this.report(), 1000).unref();
    this.#dropped += 1;
  }

  /** Reports the number of dropped entries and begins a new period of 1 s. */
  report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const count = this.#dropped;
    this.#entries = this.#bytes = this.#dropped = 0;
    if (count > 0) this.#onDropped(count);
  }
}
