import { PassThrough, pipeline, type TransformOptions } from "node:stream";
import { crc32, createInflateRaw, type ZlibOptions } from "node:zlib";
import { archiveTooLarge, invalidArchive } from "../../../shared/archive/refusal.js";
import type { Arrival } from "./arrival.js";
import { GzipFile } from "./gzip-file.js";

/** Large ones cost fewer turns of the event loop. */
const chunkBytes = 2 * 1024 * 1024;
/** Read ahead of the thread that inflates, so that it need not wait for the file. */
const readAheadBytes = 4 * 1024 * 1024;
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
export async function* gunzipFile(path: string, maxStreamBytes: number, arrival?: Arrival): AsyncGenerator<Buffer> {
  const gzip = await GzipFile.open(path, arrival);
  const options: ZlibOptions & TransformOptions = { chunkSize: chunkBytes, writableHighWaterMark: readAheadBytes };
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
