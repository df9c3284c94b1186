import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { PackedFile } from "./pack-plan.js";
import { createTarStream } from "./tar-writer.js";

/** How far reading may be ahead of compressing. */
const readAheadBytes = 1024 * 1024;
/** RFC 1952: the byte that names the system, which differs between systems, and its value "unknown". */
const gzipSystemOffset = 9;
const gzipSystemUnknown = 255;

export interface Archive {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface WrittenArchive extends Archive {
  /** Of what is in it, see `ContentDigest`. */
  readonly digest: string;
}

/**
 * Writes the files as a gzipped tar, see `createTarStream`. The same content gives the same bytes. `target` must not be there yet. `onBytes`
 * hears of every piece that was read.
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
  // Larger than zlib's own 16 kB: each piece that it gives out wakes this thread up.
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

/** Counts and hashes what passes, and makes the gzip header the same on every system. */
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
 * What is in a package, whatever says when and by whom it was packed: SHA-256 of path, NUL, size, NUL and content of each file, in the
 * order of the archive.
 */
export class ContentDigest {
  readonly #hash = createHash("sha256");
  #isReplaced = false;

  /** The content that comes next is this file's. */
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

/** What the archive of a package is called. */
export function archiveName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${archiveStem(name)}-${version}.tgz`;
}

/** What the names of all archives of a package begin with. */
export function archiveStem(name: string): string {
  return name.replace("@", "").replace("/", "-");
}
