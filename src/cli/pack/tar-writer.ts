import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { packedHeader, tarBlockBytes, tarPaddingBytes } from "../../shared/archive/packed-header.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { ContentDigest } from "./write-archive.js";
import type { PackedFile } from "./pack-plan.js";

const padding = Buffer.alloc(tarBlockBytes);
const none: readonly Buffer[] = [];
/**
 * Size of the chunks into which small files are combined. While zlib compresses a chunk in another thread, the main thread reads the next
 * files.
 */
const pieceBytes = 256 * 1024;

const marker = Buffer.from("rtk_");
const keyPattern = /^rtk_[A-Za-z0-9_-]{43}/;
const keyLength = 47;

/**
 * Yields an uncompressed tar of the files in the given order. Times, modes and owners are fixed, so equal content gives equal bytes. Throws
 * SECRET_FOUND for an API key. Reads synchronously, which is faster for small files.
 */
export function* createTarStream(files: readonly PackedFile[], digest: ContentDigest): Generator<Buffer> {
  const pieces = new Pieces();
  for (const file of files) {
    const { descriptor, sizeBytes } = openFile(file);
    try {
      digest.begin(file, sizeBytes);
      pieces.add(packedHeader({ ...file, sizeBytes }));
      // Yields full chunks already while a large file is being read.
      const read = contentReader(descriptor, file, digest);
      for (let leftBytes = sizeBytes; leftBytes > 0;) {
        leftBytes -= pieces.fill(leftBytes, read);
        yield* pieces.full();
      }
      pieces.add(padding.subarray(0, tarPaddingBytes(sizeBytes)));
    } finally {
      closeSync(descriptor);
    }
    yield* pieces.full();
  }
  pieces.add(Buffer.alloc(2 * tarBlockBytes));
  yield* pieces.full();
  yield pieces.rest();
}

/** Collects bytes in a buffer and splits them into chunks of `pieceBytes` bytes. */
class Pieces {
  #buffer = Buffer.allocUnsafe(pieceBytes);
  #filledBytes = 0;
  #full: Buffer[] = [];

  add(bytes: Buffer): void {
    if (this.#filledBytes + bytes.length > pieceBytes) this.#full.push(this.rest());
    bytes.copy(this.#buffer, this.#filledBytes);
    this.#filledBytes += bytes.length;
  }

  /** Calls `read` to fill the current chunk with at most `mostBytes` more bytes. Returns the number of bytes that `read` added. */
  fill(mostBytes: number, read: (into: Buffer) => number): number {
    if (this.#filledBytes === pieceBytes) this.#full.push(this.rest());
    const end = Math.min(pieceBytes, this.#filledBytes + mostBytes);
    const count = read(this.#buffer.subarray(this.#filledBytes, end));
    this.#filledBytes += count;
    return count;
  }

  /** Returns all full chunks and removes them from this object. */
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

/**
 * Opens a file for packing. Throws for a symbolic link, because the plan contains only resolved paths. Throws FILE_CHANGED if the path is
 * no longer a regular file.
 */
function openFile(file: PackedFile): { descriptor: number; sizeBytes: number } {
  const descriptor = openSync(file.source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = fstatSync(descriptor);
  if (stats.isFile()) return { descriptor, sizeBytes: stats.size };
  closeSync(descriptor);
  throw changed(file);
}

/** Returns a function that reads the next bytes of a file. The function also scans the bytes for API keys and adds them to the digest. */
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
  return new CommandError("FILE_CHANGED", `${file.path} changed during packing`, { exitCode: exitCodes.failed, hint: "try again" });
}

/** Detects API keys in the content of a file, which arrives in chunks. */
class SecretScanner {
  readonly #file: string;
  #tail: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Throws SECRET_FOUND if an API key ends in this chunk. The API key can start in the previous chunk. */
  check(piece: Buffer): void {
    const text = this.#tail.length === 0 ? piece : Buffer.concat([this.#tail, piece]);
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + 1))
      if (keyPattern.test(text.toString("latin1", at, at + keyLength))) throw holdsKey(this.#file);
    this.#tail = Buffer.from(text.subarray(Math.max(0, text.length - keyLength + 1)));
  }
}

function holdsKey(file: string): CommandError {
  return new CommandError("SECRET_FOUND", `${file} contains an API key; nothing was uploaded`, {
    exitCode: exitCodes.failed,
    hint: "remove the key from the file and revoke it if it was exposed, or exclude the file with .runtimeignore",
  });
}
