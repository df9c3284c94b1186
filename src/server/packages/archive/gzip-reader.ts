import { PassThrough, pipeline, type TransformOptions } from "node:stream";
import { crc32, createInflateRaw, type ZlibOptions } from "node:zlib";
import { archiveTooLarge, invalidArchive } from "../../../shared/archive/refusal.js";
import type { ReceivedBytes } from "./unpack-job.js";
import { open, type FileHandle } from "node:fs/promises";

/** Size in bytes of a decompressed chunk. Large chunks need fewer turns of the event loop. */
const inflatedChunkBytes = 2 * 1024 * 1024;
/** Maximum number of compressed bytes that are read ahead. Without them, the thread of zlib would wait for the file. */
const readAheadBytes = 4 * 1024 * 1024;
/** Number of decompressed chunks that wait for the writer. With only one chunk, zlib would pause during each write. */
const chunksAhead = 4;
/** Maximum ratio of the decompressed to the compressed size. Archive bombs reach a ratio of about 1,000. Usual packages stay below 250. */
const highestRatio = 250;
/** Decompressed size in bytes up to which the daemon accepts every ratio. */
const ratioFreeBytes = 32 * 1024 * 1024;

const longestHeaderBytes = 128 * 1024;
const trailerBytes = 8;
/** Number of compressed bytes that are read from the file at a time. Large chunks need fewer turns of the event loop. */
const chunkBytes = 1024 * 1024;

/** Throws ARCHIVE_TOO_LARGE if the ratio of the decompressed to the compressed size is above the maximum. */
export function checkRatio(expandedBytes: number, compressedBytes: number): void {
  if (expandedBytes > ratioFreeBytes && expandedBytes > highestRatio * compressedBytes) {
    throw archiveTooLarge(`it unpacks to more than ${highestRatio} times its size`);
  }
}

/**
 * Yields the decompressed content of a gzip file with exactly one member. Gives zlib only the deflate data, because zlib would accept
 * further members and ignore trailing bytes. Tools differ in how they read such files.
 */
export async function* gunzipFile(path: string, maxStreamBytes: number, received?: ReceivedBytes): AsyncGenerator<Buffer> {
  const gzip = await GzipFile.open(path, received);
  const options: ZlibOptions & TransformOptions = { chunkSize: inflatedChunkBytes, writableHighWaterMark: readAheadBytes };
  const inflate = createInflateRaw(options);
  const ahead = new PassThrough({ objectMode: true, highWaterMark: chunksAhead });
  // Passes an empty callback. The last stream of the pipeline emits the errors of all streams, and the loop below throws them.
  pipeline(gzip.data(), inflate, ahead, () => undefined);
  let crc = 0;
  let expandedBytes = 0;
  try {
    for await (const chunk of ahead as AsyncIterable<Buffer>) {
      expandedBytes += chunk.length;
      checkRatio(expandedBytes, inflate.bytesWritten);
      if (expandedBytes > maxStreamBytes) throw archiveTooLarge("it unpacks to more bytes than this server allows");
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    if (isZlibError(error)) throw invalidArchive("its gzip data is damaged or cut off", error);
    throw error;
  } finally {
    await gzip.close();
  }
  // Deflate data ends with its final block (RFC 1951, section 3.2.3), which can be before the end of the file. Compares the sizes to detect
  // bytes after the final block.
  if (inflate.bytesWritten !== gzip.end?.dataBytes) throw invalidArchive("it has bytes after the end of its gzip data");
  if (crc !== gzip.end.crc || expandedBytes % 2 ** 32 !== gzip.end.sizeBytes) throw invalidArchive("its gzip checksum is wrong");
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
}

/** The gzip trailer, which follows the deflate data. */
interface GzipEnd {
  readonly dataBytes: number;
  readonly crc: number;
  /** Size of the decompressed content in bytes, modulo 2^32. */
  readonly sizeBytes: number;
}

/** A gzip file with one member. The file can still grow while it is read. */
class GzipFile {
  /** The gzip trailer. Undefined until all deflate data is read. */
  end: GzipEnd | undefined;
  readonly #file: FileHandle;
  readonly #received: ReceivedBytes | undefined;

  static async open(path: string, received: ReceivedBytes | undefined): Promise<GzipFile> {
    return new GzipFile(await open(path, "r"), received);
  }

  private constructor(file: FileHandle, received: ReceivedBytes | undefined) {
    this.#file = file;
    this.#received = received;
  }

  /** Yields the deflate data: the bytes between header and trailer. */
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

  /** Reads `byteCount` bytes at a position. At the end of the file, returns fewer bytes. */
  async #readAt(position: number, byteCount: number): Promise<Buffer> {
    await this.#received?.reach(position + byteCount);
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(byteCount), 0, byteCount, position);
    return buffer.subarray(0, bytesRead);
  }
}

/** Returns the length of the gzip header (RFC 1952, section 2.3). */
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
