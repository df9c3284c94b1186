/** Reads a stream of chunks by the byte, without keeping more than a chunk. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes if all of them are here already, which spares most callers a promise; undefined when some have yet to come. */
  takeLoaded(byteCount: number): Buffer | undefined {
    return this.#rest.length >= byteCount ? this.#cut(byteCount) : undefined;
  }

  /** The next bytes, fewer than asked for only at the end. */
  async take(byteCount: number): Promise<Buffer> {
    const loaded = this.takeLoaded(byteCount);
    if (loaded) return loaded;
    const pieces: Buffer[] = [];
    for await (const piece of this.upTo(byteCount)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** The next bytes in pieces, fewer than asked for only at the end. */
  async *upTo(byteCount: number): AsyncGenerator<Buffer> {
    let missing = byteCount;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#refill())) return;
      const piece = this.#cut(Math.min(missing, this.#rest.length));
      missing -= piece.length;
      yield piece;
    }
  }

  /** Passes over bytes; false when the end came first. */
  async skip(byteCount: number): Promise<boolean> {
    let missing = byteCount;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#refill())) return false;
      missing -= this.#cut(Math.min(missing, this.#rest.length)).length;
    }
    return true;
  }

  /** Lets go of what the chunks come from. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #refill(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done) return false;
    this.#rest = next.value;
    return true;
  }

  #cut(byteCount: number): Buffer {
    const piece = this.#rest.subarray(0, byteCount);
    this.#rest = this.#rest.subarray(byteCount);
    return piece;
  }
}
