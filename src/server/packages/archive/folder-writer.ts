import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { syncPaths } from "./sync-paths.js";

/**
 * Writes files into an empty folder. Its calls are synchronous, because it has a process to itself: a promise for each would cost more
 * than the writing, and the next piece is inflated by a thread of zlib's meanwhile.
 */
export class TreeWriter {
  readonly #root: string;
  readonly #written: string[] = [];
  /** By path below the root. */
  readonly #folders = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    this.#written.push(root);
  }

  /** Makes a folder and those above it; never recursive: when the root is gone, so is the reason to write. */
  addFolder(segments: readonly string[]): void {
    const name = segments.join("/");
    if (name === "" || this.#folders.has(name)) return;
    this.addFolder(segments.slice(0, -1));
    const folder = path.join(this.#root, name);
    mkdirSync(folder, 0o755);
    this.#folders.add(name);
    this.#written.push(folder);
  }

  /** Content that is here is written at once; of content that comes bit by bit the promise says when it is. */
  addFile(segments: readonly string[], mode: number, content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> | undefined {
    this.addFolder(segments.slice(0, -1));
    const target = path.join(this.#root, ...segments);
    this.#written.push(target);
    const file = openSync(target, "wx", mode);
    if (Symbol.asyncIterator in content) return writeArriving(file, content);
    try {
      for (const piece of content) writeAll(file, piece);
    } finally {
      closeSync(file);
    }
    return undefined;
  }

  /** Puts all of it on stable storage. */
  async sync(): Promise<void> {
    await syncPaths(this.#root, this.#written);
  }
}

async function writeArriving(file: number, content: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const piece of content) writeAll(file, piece);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}
