import type { MetricRow } from "./metric-row.js";

/** Size of a row in memory and on disk: 8 numbers of 4 bytes, in the byte order of the processor. */
export const rowBytes = 32;
const wordsPerRow = rowBytes / 4;
/** Initial capacity of a ring in rows. A full ring doubles its capacity, up to its maximum length. */
const firstCapacity = 8;
const maximumWord = 2 ** 32 - 1;

/**
 * The newest rows of a series in one typed array, sorted by slot. Each slot occurs at most once. Only a full ring drops its oldest row. The
 * ring ignores the current time, so a change of the clock deletes no rows.
 */
export class MetricRing {
  readonly #maximumLength: number;
  #words: Uint32Array<ArrayBuffer>;
  #floats: Float32Array<ArrayBuffer>;
  #start = 0;
  #length = 0;

  constructor(maximumLength: number) {
    this.#maximumLength = maximumLength;
    this.#words = new Uint32Array(Math.min(firstCapacity, maximumLength) * wordsPerRow);
    this.#floats = new Float32Array(this.#words.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** Memory of the ring in bytes, including unused memory for further rows. */
  get sizeBytes(): number {
    return this.#words.byteLength;
  }

  /** Slot of the newest row. Undefined for an empty ring. */
  get newestSlot(): number | undefined {
    return this.#length === 0 ? undefined : this.#slotAt(this.#length - 1);
  }

  /**
   * Adds a row. If the ring contains a row with the same slot, keeps the row with more requests, or the new row if both have the same
   * number. A repeated row therefore changes nothing. A full ring ignores a row that is older than all others.
   */
  put(row: MetricRow): void {
    const index = this.#firstFrom(row.slot);
    if (index < this.#length && this.#slotAt(index) === row.slot) {
      if ((this.#words[this.#offset(index) + 1] as number) <= row.requests) this.#write(index, row);
      return;
    }
    if (this.#length === this.#maximumLength) {
      if (index === 0) return;
      this.#start = (this.#start + 1) % this.#capacity;
      this.#length -= 1;
      return this.#insert(index - 1, row);
    }
    if (this.#length === this.#capacity) this.#resize(Math.min(this.#capacity * 2, this.#maximumLength));
    this.#insert(index, row);
  }

  get(slot: number): MetricRow | undefined {
    const index = this.#firstFrom(slot);
    return index < this.#length && this.#slotAt(index) === slot ? this.#read(index) : undefined;
  }

  /** Returns the rows from slot `from` up to and including slot `to`, oldest first. */
  rows(from = 0, to = Infinity): MetricRow[] {
    const rows: MetricRow[] = [];
    for (let index = this.#firstFrom(from); index < this.#length && this.#slotAt(index) <= to; index += 1) rows.push(this.#read(index));
    return rows;
  }

  /** Keeps the newest `count` rows, and frees the memory of all older rows. */
  keepNewest(count: number): void {
    const dropped = Math.max(0, this.#length - count);
    this.#start = (this.#start + dropped) % this.#capacity;
    this.#length -= dropped;
    const capacity = Math.max(this.#length, Math.min(firstCapacity, this.#maximumLength));
    if (capacity < this.#capacity) this.#resize(capacity);
  }

  /** Returns the newest `count` rows, oldest first, as bytes for `putEncoded`. */
  encode(count = this.#length): Buffer {
    const words = new Uint32Array(Math.min(count, this.#length) * wordsPerRow);
    const first = this.#length - words.length / wordsPerRow;
    for (let index = first; index < this.#length; index += 1) words.set(this.#rowWords(index), (index - first) * wordsPerRow);
    return Buffer.from(words.buffer);
  }

  /** Adds rows from bytes that `encode` or `encodeRow` returned. Ignores an incomplete row at the end. */
  putEncoded(bytes: Uint8Array): void {
    for (const row of decodeRows(bytes)) this.put(row);
  }

  get #capacity(): number {
    return this.#words.length / wordsPerRow;
  }

  #offset(index: number): number {
    return ((this.#start + index) % this.#capacity) * wordsPerRow;
  }

  #slotAt(index: number): number {
    return this.#words[this.#offset(index)] as number;
  }

  #rowWords(index: number): Uint32Array {
    const offset = this.#offset(index);
    return this.#words.subarray(offset, offset + wordsPerRow);
  }

  /** Returns the index of the first row whose slot is at least `slot`. */
  #firstFrom(slot: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#slotAt(middle) < slot) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Inserts a row at `index` and moves all later rows by one position. The caller ensures that the ring has memory for the row. */
  #insert(index: number, row: MetricRow): void {
    this.#length += 1;
    for (let each = this.#length - 1; each > index; each -= 1) this.#words.set(this.#rowWords(each - 1), this.#offset(each));
    this.#write(index, row);
  }

  #write(index: number, row: MetricRow): void {
    writeRow(this.#words, this.#floats, this.#offset(index), row);
  }

  #read(index: number): MetricRow {
    return readRow(this.#words, this.#floats, this.#offset(index));
  }

  #resize(capacity: number): void {
    const words = new Uint32Array(capacity * wordsPerRow);
    for (let index = 0; index < this.#length; index += 1) words.set(this.#rowWords(index), index * wordsPerRow);
    this.#words = words;
    this.#floats = new Float32Array(words.buffer);
    this.#start = 0;
  }
}

/** Returns one row as bytes for `putEncoded`. */
export function encodeRow(row: MetricRow): Buffer {
  const words = new Uint32Array(wordsPerRow);
  writeRow(words, new Float32Array(words.buffer), 0, row);
  return Buffer.from(words.buffer);
}

function decodeRows(bytes: Uint8Array): MetricRow[] {
  // Copies the bytes to the beginning of new memory, because a Uint32Array must begin at a multiple of 4 bytes, but rows in a file can
  // begin at any byte.
  const words = new Uint32Array(Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % rowBytes))).buffer);
  const floats = new Float32Array(words.buffer);
  return Array.from({ length: words.length / wordsPerRow }, (_, index) => readRow(words, floats, index * wordsPerRow));
}

function writeRow(words: Uint32Array, floats: Float32Array, offset: number, row: MetricRow): void {
  words[offset] = row.slot;
  words[offset + 1] = Math.min(row.requests, maximumWord);
  words[offset + 2] = Math.min(row.failed, maximumWord);
  floats[offset + 3] = row.p50Ms;
  floats[offset + 4] = row.p99Ms;
  words[offset + 5] = Math.min(row.memoryKilobytes, maximumWord);
  floats[offset + 6] = row.cpuSeconds;
  words[offset + 7] = row.isolates;
}

function readRow(words: Uint32Array, floats: Float32Array, offset: number): MetricRow {
  return {
    slot: words[offset] as number,
    requests: words[offset + 1] as number,
    failed: words[offset + 2] as number,
    p50Ms: floats[offset + 3] as number,
    p99Ms: floats[offset + 4] as number,
    memoryKilobytes: words[offset + 5] as number,
    cpuSeconds: floats[offset + 6] as number,
    isolates: words[offset + 7] as number,
  };
}
