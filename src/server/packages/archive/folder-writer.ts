import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { syncPaths } from "./sync-paths.js";

/**
 * Writes files into an empty folder. All writes are synchronous: the unpacker has no other task, and promises would take more time than the
 * writes.
 */
export class TreeWriter {
  readonly #root: string;
  readonly #written: string[] = [];
  /** Paths of created folders, relative to the root. */
  readonly #folders = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    this.#written.push(root);
  }

  /** Creates a folder and its missing parents, but not the root. Throws if the root was deleted meanwhile. */
  addFolder(segments: readonly string[]): void {
    const name = segments.join("/");
    if (name === "" || this.#folders.has(name)) return;
    this.addFolder(segments.slice(0, -1));
    const folder = path.join(this.#root, name);
    mkdirSync(folder, 0o755);
    this.#folders.add(name);
    this.#written.push(folder);
  }

  /**
   * Writes a file. If the content is already in memory, returns after the write. Otherwise returns a promise that resolves after the write.
   */
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

  /** Syncs all written files and folders to the disk. */
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
