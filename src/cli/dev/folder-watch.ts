import { readdirSync, statSync, watch, type FSWatcher } from "node:fs";
import path from "node:path";

/** A change is told when nothing more came for so long: editors write in several steps. */
const quietMs = 50;
/** A folder that never comes to rest is told all the same. */
const longestWaitMs = 500;

interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: number;
}

/**
 * Tells of changes below a folder, many at once as one. Watches folder by folder, because a recursive watch would take in node_modules;
 * a folder that came with a change is seen by the next `follow`, which the one who is told calls before looking at the files.
 */
export class FolderWatch {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #quietTimer: NodeJS.Timeout | undefined;
  #firstMs = 0;
  /** Why not all is watched: the system gives no more watches. */
  problem: string | undefined;

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Watches the folders that are there now, except for those whose path below the root is `ignored`, and what lies in them. */
  follow(isIgnored: (directory: string) => boolean): void {
    const found = new Set<string>();
    this.#visit("", isIgnored, found);
    for (const [directory, { watcher }] of this.#watched) {
      if (found.has(directory)) continue;
      watcher.close();
      this.#watched.delete(directory);
    }
  }

  close(): void {
    clearTimeout(this.#quietTimer);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  #visit(directory: string, isIgnored: (directory: string) => boolean, found: Set<string>): void {
    try {
      this.#watch(directory);
      found.add(directory);
      for (const entry of readdirSync(path.join(this.#root, directory), { withFileTypes: true })) {
        const below = directory === "" ? entry.name : `${directory}/${entry.name}`;
        if (entry.isDirectory() && !isIgnored(below)) this.#visit(below, isIgnored, found);
      }
    } catch (error) {
      // What is gone meanwhile is a change of its own.
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOSPC" || code === "EMFILE") this.problem = message;
    }
  }

  #watch(directory: string): void {
    const folder = path.join(this.#root, directory);
    const { ino: inode } = statSync(folder);
    const known = this.#watched.get(directory);
    if (known?.inode === inode) return;
    known?.watcher.close();
    const watcher = watch(folder, () => this.#note());
    watcher.on("error", () => this.#watched.delete(directory));
    this.#watched.set(directory, { watcher, inode });
  }

  #note(): void {
    const nowMs = performance.now();
    if (this.#quietTimer === undefined) this.#firstMs = nowMs;
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(
      () => {
        this.#quietTimer = undefined;
        this.#onChange();
      },
      Math.max(0, Math.min(quietMs, this.#firstMs + longestWaitMs - nowMs)),
    );
  }
}
