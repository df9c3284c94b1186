import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { syncPaths } from "./sync-paths.js";

/**
 * Writes files into an empty folder. Its calls are synchronous, because it has a process to itself: a promise for each would cost more
 * than the writing, and the next piece is inflated by another thread meanwhile.
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

  async addFile(segments: readonly string[], mode: number, content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    this.addFolder(segments.slice(0, -1));
    const target = path.join(this.#root, ...segments);
    const file = openSync(target, "wx", mode);
    try {
      for await (const piece of content) writeAll(file, piece);
    } finally {
      closeSync(file);
    }
    this.#written.push(target);
  }

  /** Puts all of it on stable storage. */
  async sync(): Promise<void> {
    await syncPaths(this.#root, this.#written);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}
