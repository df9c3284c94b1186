import { PassThrough, pipeline, type TransformOptions } from "node:stream";
import { crc32, createInflateRaw, type ZlibOptions } from "node:zlib";
import { archiveTooLarge, invalidArchive } from "../../../shared/archive/refusal.js";
import type { Arrival } from "./unpack-job.js";
import { open, type FileHandle } from "node:fs/promises";

/** Large ones cost fewer turns of the event loop. */
const inflatedChunkBytes = 2 * 1024 * 1024;
/** Read ahead of the thread that inflates, so that it need not wait for the file. */
const readAheadBytes = 4 * 1024 * 1024;
/** The other thread goes on inflating while we write; with one chunk ahead, each would wait for the other in turn. */
const chunksAhead = 4;
/** Text and zeros of everyday packages stay below; a bomb runs at about 1,000. */
const highestRatio = 250;
/** Small archives may be as compressible as they like. */
const ratioFreeBytes = 32 * 1024 * 1024;

const longestHeaderBytes = 128 * 1024;
const trailerBytes = 8;
/** Large ones cost fewer turns of the event loop. */
const chunkBytes = 1024 * 1024;

/** Refuses what expands as only a bomb does. */
export function checkRatio(expandedBytes: number, compressedBytes: number): void {
  if (expandedBytes > ratioFreeBytes && expandedBytes > highestRatio * compressedBytes) {
    throw archiveTooLarge(`it unpacks to more than ${highestRatio} times its size`);
  }
}

/**
 * The content of a gzip file of exactly one member. zlib's own gunzip joins further members and passes over trailing bytes, and
 * another tool would then see another content than we do; so the frame is read here, and only the deflate data goes to zlib.
 */
export async function* gunzipFile(path: string, maxStreamBytes: number, arrival?: Arrival): AsyncGenerator<Buffer> {
  const gzip = await GzipFile.open(path, arrival);
  const options: ZlibOptions & TransformOptions = { chunkSize: inflatedChunkBytes, writableHighWaterMark: readAheadBytes };
  const inflate = createInflateRaw(options);
  const ahead = new PassThrough({ objectMode: true, highWaterMark: chunksAhead });
  // What goes wrong in one of them comes out of the last one.
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
  // Deflate data says itself where it ends, perhaps before all of the file was read.
  if (inflate.bytesWritten !== gzip.end?.dataBytes) throw invalidArchive("it has bytes after the end of its gzip data");
  if (crc !== gzip.end.crc || expandedBytes % 2 ** 32 !== gzip.end.sizeBytes) throw invalidArchive("its gzip checksum is wrong");
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
}

/** What stands behind the deflate data. */
interface GzipEnd {
  readonly dataBytes: number;
  readonly crc: number;
  /** Of the content, modulo 2^32. */
  readonly sizeBytes: number;
}

/** The frame of a gzip file of one member, which may still arrive while it is read. */
class GzipFile {
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
