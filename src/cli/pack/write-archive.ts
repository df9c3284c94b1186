import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { PackedFile } from "./pack-plan.js";
import { createTarStream } from "./tar-writer.js";

/**
 * Maximum number of bytes that have been read and wait for compression. Without this limit, these bytes could fill the memory, because
 * reading is faster than compression.
 */
const readAheadBytes = 1024 * 1024;
/**
 * Position of the byte for the operating system in a gzip header (RFC 1952). zlib writes different values on different systems, so the
 * writer sets the byte to "unknown".
 */
const gzipSystemOffset = 9;
const gzipSystemUnknown = 255;

export interface Archive {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface WrittenArchive extends Archive {
  /** The content digest as hexadecimal text (see `ContentDigest`). */
  readonly digest: string;
}

/**
 * Writes the files as a gzipped tar (see `createTarStream`). Equal content gives equal bytes. `target` must not exist. After each chunk
 * that is read, calls `onBytes` with the size of the chunk.
 */
export async function writeArchive(
  files: readonly PackedFile[],
  target: string,
  signal: AbortSignal,
  onBytes: (count: number) => void = () => undefined,
): Promise<WrittenArchive> {
  const digest = new ContentDigest();
  const fingerprint = new Fingerprint();
  const pieces = Readable.from(pluralize(createTarStream(files, digest), onBytes), { highWaterMark: 1 });
  // Uses chunks of 128 kB instead of zlib's default of 16 kB, because each chunk of output interrupts the main thread.
  const gzip = createGzip({ chunkSize: 128 * 1024, writableHighWaterMark: readAheadBytes } as Parameters<typeof createGzip>[0]);
  await pipeline(pieces, gzip, fingerprint, createWriteStream(target, { flags: "wx", mode: 0o600 }), { signal });
  return { sizeBytes: fingerprint.sizeBytes, sha256: fingerprint.hex(), digest: digest.hex() };
}

function* pluralize(pieces: Iterable<Buffer>, onBytes: (count: number) => void): Generator<Buffer> {
  for (const piece of pieces) {
    yield piece;
    onBytes(piece.length);
  }
}

/** Counts and hashes the bytes of an archive. Sets the byte for the operating system in the gzip header to a fixed value. */
class Fingerprint extends Transform {
  readonly #hash = createHash("sha256");
  sizeBytes = 0;

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    const offset = gzipSystemOffset - this.sizeBytes;
    if (offset >= 0 && offset < chunk.length) chunk[offset] = gzipSystemUnknown;
    this.#hash.update(chunk);
    this.sizeBytes += chunk.length;
    done(null, chunk);
  }

  hex(): string {
    return this.#hash.digest("hex");
  }
}

/**
 * Digest of the content of a package, without deployment records: SHA-256 of path, NUL, size, NUL and content of each file, in the order of
 * the archive.
 */
export class ContentDigest {
  readonly #hash = createHash("sha256");
  #isReplaced = false;

  /** Starts the next file of the digest. The calls of `update` that follow contain the file's content. */
  begin({ path, digestedAs }: PackedFile, sizeBytes: number): void {
    this.#isReplaced = digestedAs !== undefined;
    if (digestedAs === undefined) this.#hash.update(`${path}\0${sizeBytes}\0`);
    else if (digestedAs !== "") this.#hash.update(`${path}\0${Buffer.byteLength(digestedAs)}\0${digestedAs}`);
  }

  update(piece: Buffer): void {
    if (!this.#isReplaced) this.#hash.update(piece);
  }

  hex(): string {
    return this.#hash.digest("hex");
  }
}

/** Returns the file name of a package archive, such as `team-app-1.2.0.tgz`. */
export function archiveName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${archiveStem(name)}-${version}.tgz`;
}

/** Returns the text with which the names of all archives of a package start. */
export function archiveStem(name: string): string {
  return name.replace("@", "").replace("/", "-");
}
