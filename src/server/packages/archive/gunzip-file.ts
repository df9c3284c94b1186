import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { PassThrough, pipeline } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { archiveTooLarge, invalidArchive } from "./refusal.js";

const longestHeaderBytes = 128 * 1024;
const trailerBytes = 8;
/** Large ones cost fewer turns of the event loop. */
const chunkBytes = 512 * 1024;
/** The other thread goes on inflating while we write; with one chunk ahead, each would wait for the other in turn. */
const chunksAhead = 4;
/** Text and zeros of everyday packages stay below; a bomb runs at about 1,000. */
const highestRatio = 250;
/** Small archives may be as compressible as they like. */
const ratioFreeBytes = 32 * 1024 * 1024;

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
export async function* gunzipFile(path: string, maxStreamBytes: number): AsyncGenerator<Buffer> {
  const { dataStart, dataEnd, expectedCrc, expectedSize } = await readFrame(path);
  const input = createReadStream(path, { start: dataStart, end: dataEnd - 1, highWaterMark: chunkBytes });
  const inflate = createInflateRaw({ chunkSize: chunkBytes });
  const ahead = new PassThrough({ objectMode: true, highWaterMark: chunksAhead });
  // What goes wrong in one of them comes out of the last one.
  pipeline(input, inflate, ahead, () => undefined);
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
  }
  if (inflate.bytesWritten !== dataEnd - dataStart) throw invalidArchive("it has bytes after the end of its gzip data");
  if (crc !== expectedCrc || expandedBytes % 2 ** 32 !== expectedSize) throw invalidArchive("its gzip checksum is wrong");
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
}

async function readFrame(path: string) {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const head = await readAt(file, 0, Math.min(longestHeaderBytes, size));
    const dataStart = headerLength(head);
    const dataEnd = size - trailerBytes;
    if (dataEnd <= dataStart) throw invalidArchive("it is cut off");
    const trailer = await readAt(file, dataEnd, trailerBytes);
    return { dataStart, dataEnd, expectedCrc: trailer.readUInt32LE(0), expectedSize: trailer.readUInt32LE(4) };
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, byteCount: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(byteCount), 0, byteCount, position);
  return buffer.subarray(0, bytesRead);
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
