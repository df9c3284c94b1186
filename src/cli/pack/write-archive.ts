import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, createReadStream, createWriteStream, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { TarArchive } from "archiver";
import { CommandError } from "../command-error.js";
import { exitCodes } from "../exit-codes.js";
import { KeyScanner } from "./key-scanner.js";
import type { PackedFile } from "./pack-plan.js";

/** npm's choice: old enough for every format, and the same for everybody. */
const fixedTime = new Date("1985-10-26T08:15:00Z");
const fixedMode = 0o644;
const prefix = "package/";
/** Smaller files are read at once: three system calls instead of a stream. */
const largeFileBytes = 1024 * 1024;
/** RFC 1952: the byte that names the system, which differs between systems, and its value "unknown". */
const gzipSystemOffset = 9;
const gzipSystemUnknown = 255;

/** What the archive of a package is called. */
export function archiveName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

export interface Archive {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/**
 * Writes the files as a gzipped tar, in the order given. The same content gives the same bytes: names, times, modes and owners
 * are fixed. Fails when a file holds one of our keys.
 */
export async function writeArchive(files: readonly PackedFile[], target: string, signal: AbortSignal): Promise<Archive> {
  const tar = new TarArchive({ statConcurrency: 1 });
  const gzip = createGzip();
  const fingerprint = new Fingerprint();
  // A failure ends the compression, not the tar: destroyed in the middle of a file, archiver throws where nobody can catch.
  const fail = (error: Error) => void gzip.destroy(error);
  tar.on("error", fail);
  tar.pipe(gzip);
  const written = pipeline(gzip, fingerprint, createWriteStream(target, { flags: "wx", mode: 0o600 }), { signal });
  appendAll(tar, files, fail).catch(fail);
  await written;
  return { sizeBytes: fingerprint.sizeBytes, sha256: fingerprint.digest() };
}

async function appendAll(tar: TarArchive, files: readonly PackedFile[], fail: (error: Error) => void): Promise<void> {
  for (const file of files) {
    const { content, stats } = openFile(file, fail);
    const taken = once(tar, "entry");
    tar.append(content, { name: prefix + file.path, date: fixedTime, mode: fixedMode, ...stats });
    await taken;
  }
  await tar.finalize();
}

/** The file's content, checked as it is read, and the size for archiver when it is a stream. */
function openFile(file: PackedFile, fail: (error: Error) => void): { content: Buffer | Readable; stats?: { stats: Stats } } {
  // The plan resolved all links: one that stands here now came in between.
  const descriptor = openSync(file.source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = fstatSync(descriptor);
  if (stats.isFile() && stats.size > largeFileBytes) {
    const source = createReadStream(file.source, { fd: descriptor, end: stats.size - 1 });
    return { content: Readable.from(scanned(file, source, { sizeBytes: stats.size, fail })), stats: { stats: sizeOf(stats) } };
  }
  try {
    if (!stats.isFile()) throw changed(file);
    const content = readWhole(descriptor, stats.size, file);
    new KeyScanner(file.path).check(content);
    return { content };
  } finally {
    closeSync(descriptor);
  }
}

/** archiver takes the size from the stats; everything else in them would find its way into the archive. */
function sizeOf(stats: Stats): Stats {
  return { size: stats.size } as Stats;
}

/** The pieces of a large file, checked. A failure is told to `fail` and ends nothing here: archiver does not listen to what it reads from. */
async function* scanned(
  file: PackedFile,
  source: AsyncIterable<Buffer>,
  { sizeBytes, fail }: { sizeBytes: number; fail: (error: Error) => void },
): AsyncGenerator<Buffer> {
  const scanner = new KeyScanner(file.path);
  let readBytes = 0;
  try {
    for await (const piece of source) {
      scanner.check(piece);
      readBytes += piece.length;
      yield piece;
    }
    if (readBytes !== sizeBytes) throw changed(file);
  } catch (error) {
    fail(error as Error);
    await new Promise(() => {});
  }
}

function readWhole(descriptor: number, sizeBytes: number, file: PackedFile): Buffer {
  const content = Buffer.allocUnsafe(sizeBytes);
  let filled = 0;
  while (filled < sizeBytes) {
    const count = readSync(descriptor, content, filled, sizeBytes - filled, filled);
    if (count === 0) throw changed(file);
    filled += count;
  }
  return content;
}

function changed(file: PackedFile): CommandError {
  return new CommandError("FILE_CHANGED", `${file.path} changed while it was packed`, { exitCode: exitCodes.failed, hint: "try again" });
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

  digest(): string {
    return this.#hash.digest("hex");
  }
}
