/** Where what one end of a pair sends goes. */
export interface Outlet {
  /** Bytes that the receiver has no room for yet. */
  readonly bufferedAmount: number;
  /** The bytes belong to the outlet from now on. */
  message(data: string | Uint8Array): void;
  /** Comes after all messages, once. */
  close(code: number, reason: string): void;
}

interface Entry {
  readonly sizeBytes: number;
  /** Missing until a Blob is read. */
  send: ((outlet: Outlet) => void) | undefined;
}

/** What `send` and `close` were called with, in that order, although the bytes of a Blob come later. */
export class SendQueue {
  readonly #waiting: Entry[] = [];
  readonly #outlet: () => Outlet;

  constructor(outlet: () => Outlet) {
    this.#outlet = outlet;
  }

  get bufferedAmount(): number {
    return this.#waiting.reduce((bytes, entry) => bytes + entry.sizeBytes, 0);
  }

  message(data: string | Uint8Array): void {
    this.#add(typeof data === "string" ? Buffer.byteLength(data) : data.byteLength, (outlet) => outlet.message(data));
  }

  close(code: number, reason: string): void {
    this.#add(0, (outlet) => outlet.close(code, reason));
  }

  async blob(blob: Blob): Promise<void> {
    const entry: Entry = { sizeBytes: blob.size, send: undefined };
    this.#waiting.push(entry);
    try {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      entry.send = (outlet) => outlet.message(bytes);
    } catch (error) {
      entry.send = () => undefined;
      throw error;
    } finally {
      while (this.#waiting[0]?.send) this.#waiting.shift()?.send?.(this.#outlet());
    }
  }

  #add(sizeBytes: number, send: (outlet: Outlet) => void): void {
    if (this.#waiting.length === 0) send(this.#outlet());
    else this.#waiting.push({ sizeBytes, send });
  }
}
