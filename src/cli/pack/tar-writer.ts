import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { Header, Pax } from "tar";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { ContentDigest } from "./write-archive.js";
import type { PackedFile } from "./pack-plan.js";

/** npm's choice: old enough for every format, and the same for everybody. */
const fixedTime = new Date("1985-10-26T08:15:00Z");
const prefix = "package/";
const blockBytes = 512;
const padding = Buffer.alloc(blockBytes);
const none: readonly Buffer[] = [];
/** Many small files make one piece: each piece is a job for another thread, which compresses it while the next one is read. */
const pieceBytes = 256 * 1024;

const marker = Buffer.from("rtk_");
const keyPattern = /^rtk_[A-Za-z0-9_-]{43}/;
const keyLength = 47;

/**
 * The files as an uncompressed tar, in the order given. The same content gives the same bytes: names, times, modes and owners are fixed.
 * Fails when a file holds one of our keys. Reading is synchronous: that is what is quick for many small files.
 */
export function* createTarStream(files: readonly PackedFile[], digest: ContentDigest): Generator<Buffer> {
  const pieces = new Pieces();
  for (const file of files) {
    const { descriptor, sizeBytes } = openFile(file);
    try {
      digest.begin(file, sizeBytes);
      pieces.add(headerOf(file, sizeBytes));
      // A large file is many pieces; they go as they come.
      const read = contentReader(descriptor, file, digest);
      for (let leftBytes = sizeBytes; leftBytes > 0;) {
        leftBytes -= pieces.fill(leftBytes, read);
        yield* pieces.full();
      }
      pieces.add(padding.subarray(0, (blockBytes - (sizeBytes % blockBytes)) % blockBytes));
    } finally {
      closeSync(descriptor);
    }
    yield* pieces.full();
  }
  pieces.add(Buffer.alloc(2 * blockBytes));
  yield* pieces.full();
  yield pieces.rest();
}

/** Collects bytes into pieces of one size. */
class Pieces {
  #buffer = Buffer.allocUnsafe(pieceBytes);
  #filledBytes = 0;
  #full: Buffer[] = [];

  add(bytes: Buffer): void {
    if (this.#filledBytes + bytes.length > pieceBytes) this.#full.push(this.rest());
    bytes.copy(this.#buffer, this.#filledBytes);
    this.#filledBytes += bytes.length;
  }

  /** Lets `read` fill what is left of a piece, at most that many bytes; returns how many it gave. */
  fill(mostBytes: number, read: (into: Buffer) => number): number {
    if (this.#filledBytes === pieceBytes) this.#full.push(this.rest());
    const end = Math.min(pieceBytes, this.#filledBytes + mostBytes);
    const count = read(this.#buffer.subarray(this.#filledBytes, end));
    this.#filledBytes += count;
    return count;
  }

  /** Those that are full, once. */
  full(): readonly Buffer[] {
    if (this.#full.length === 0) return none;
    const full = this.#full;
    this.#full = [];
    return full;
  }

  rest(): Buffer {
    const rest = this.#buffer.subarray(0, this.#filledBytes);
    this.#buffer = Buffer.allocUnsafe(pieceBytes);
    this.#filledBytes = 0;
    return rest;
  }
}

/** A name that is too long for a header gets an extended one in front. */
function headerOf({ path, executable = false }: PackedFile, sizeBytes: number): Buffer {
  const entry = {
    path: prefix + path,
    type: "File",
    mode: executable ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    size: sizeBytes,
    mtime: fixedTime,
  } as const;
  const block = Buffer.alloc(blockBytes);
  const needsMore = new Header(entry).encode(block, 0);
  return needsMore ? Buffer.concat([new Pax({ path: entry.path, size: entry.size }).encode(), block]) : block;
}

/** The plan resolved all links: one that stands here now came in between. */
function openFile(file: PackedFile): { descriptor: number; sizeBytes: number } {
  const descriptor = openSync(file.source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = fstatSync(descriptor);
  if (stats.isFile()) return { descriptor, sizeBytes: stats.size };
  closeSync(descriptor);
  throw changed(file);
}

/** Reads on where the last call ended, and checks what was read. */
function contentReader(descriptor: number, file: PackedFile, digest: ContentDigest): (into: Buffer) => number {
  const scanner = new SecretScanner(file.path);
  return (into) => {
    const count = readSync(descriptor, into, 0, into.length, null);
    if (count === 0) throw changed(file);
    const read = into.subarray(0, count);
    scanner.check(read);
    digest.update(read);
    return count;
  };
}

function changed(file: PackedFile): CommandError {
  return new CommandError("FILE_CHANGED", `${file.path} changed while it was packed`, { exitCode: exitCodes.failed, hint: "try again" });
}

/** Looks for API keys in a file that comes in pieces. */
class SecretScanner {
  readonly #file: string;
  #tail: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Fails when a key stands in this piece, or across its border with the one before. */
  check(piece: Buffer): void {
    const text = this.#tail.length === 0 ? piece : Buffer.concat([this.#tail, piece]);
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1))
      if (keyPattern.test(text.toString("latin1", at, at + keyLength))) throw holdsKey(this.#file);
    this.#tail = Buffer.from(text.subarray(Math.max(0, text.length - keyLength + 1)));
  }
}

function holdsKey(file: string): CommandError {
  return new CommandError("SECRET_FOUND", `${file} holds an API key; nothing was uploaded`, {
    exitCode: exitCodes.failed,
    hint: "take the key out and revoke it if others saw it, or leave the file out by .runtimeignore",
  });
}
