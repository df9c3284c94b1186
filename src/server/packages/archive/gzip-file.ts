import { open, type FileHandle } from "node:fs/promises";
import type { Arrival } from "./arrival.js";
import { invalidArchive } from "../../../shared/archive/refusal.js";

const longestHeaderBytes = 128 * 1024;
const trailerBytes = 8;
/** Large ones cost fewer turns of the event loop. */
const chunkBytes = 1024 * 1024;

/** What stands behind the deflate data. */
interface GzipEnd {
  readonly dataBytes: number;
  readonly crc: number;
  /** Of the content, modulo 2^32. */
  readonly sizeBytes: number;
}

/** The frame of a gzip file of one member, which may still arrive while it is read. */
export class GzipFile {
  /** Known when all data was read. */
  end: GzipEnd | undefined;
  readonly #file: FileHandle;
  readonly #arrival: Arrival | undefined;

  static async open(path: string, arrival: Arrival | undefined): Promise<GzipFile> {
    return new GzipFile(await open(path, "r"), arrival);
  }

  private constructor(file: FileHandle, arrival: Arrival | undefined) {
    this.#file = file;
    this.#arrival = arrival;
  }

  /** The deflate data: what lies between the header and the last bytes of the file. */
  async *data(): AsyncGenerator<Buffer> {
    const start = headerLength(await this.#readAt(0, longestHeaderBytes));
    for (let position = start; ; position += chunkBytes) {
      const bytes = await this.#readAt(position, chunkBytes + trailerBytes);
      if (bytes.length === chunkBytes + trailerBytes) {
        yield bytes.subarray(0, chunkBytes);
        continue;
      }
      const dataBytes = position - start + bytes.length - trailerBytes;
      if (dataBytes <= 0) throw invalidArchive("it is cut off");
      const trailer = bytes.subarray(-trailerBytes);
      this.end = { dataBytes, crc: trailer.readUInt32LE(0), sizeBytes: trailer.readUInt32LE(4) };
      if (bytes.length > trailerBytes) yield bytes.subarray(0, -trailerBytes);
      return;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** As many bytes as asked for; fewer at the end of the file only. */
  async #readAt(position: number, byteCount: number): Promise<Buffer> {
    await this.#arrival?.reach(position + byteCount);
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(byteCount), 0, byteCount, position);
    return buffer.subarray(0, bytesRead);
  }
}

/** RFC 1952, section 2.3. */
function headerLength(head: Buffer): number {
  if (head.length < 18 || head[0] !== 0x1f || head[1] !== 0x8b || head[2] !== 8) throw invalidArchive("it is not a gzip file");
  const flags = head[3] as number;
  if (flags & 0xe0) throw invalidArchive("its gzip header has unknown flags");
  let length = 10;
  if (flags & 4) length += 2 + (length + 2 <= head.length ? head.readUInt16LE(length) : longestHeaderBytes);
  for (const textFlag of [8, 16]) {
    if (!(flags & textFlag)) continue;
    const end = head.indexOf(0, length);
    if (end === -1) throw invalidArchive("its gzip header is too long or cut off");
    length = end + 1;
  }
  if (flags & 2) length += 2;
  if (length > head.length) throw invalidArchive("its gzip header is too long or cut off");
  return length;
}
