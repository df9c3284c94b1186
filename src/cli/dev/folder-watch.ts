import { readdirSync, statSync, watch, type FSWatcher } from "node:fs";
import path from "node:path";

/** Quiet time before a change is reported: editors write a file in several steps. */
const quietMs = 50;
/** Maximum delay of a report while changes continue. */
const longestWaitMs = 500;

interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: number;
}

/**
 * Reports changes below a folder, several at once as one. Watches each folder separately, to skip node_modules.
 * New folders are watched after the next `follow`, which the listener calls before it reads the files.
 */
export class FolderWatch {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #quietTimer: NodeJS.Timeout | undefined;
  #firstMs = 0;
  /** The error if the system limit of watches was reached and some folders are not watched. */
  problem: string | undefined;

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Watches all existing folders, except ignored ones and their content. `isIgnored` receives the path relative to the root. */
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
      // A folder deleted during the walk causes its own change event.
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
