import { readdirSync, statSync, watch, type FSWatcher } from "node:fs";
import path from "node:path";

/** Time without further changes after which a change is reported, because editors write a file in several steps. */
const quietMs = 50;
/** Maximum time between a change and its report. Without this limit, further changes could delay the report indefinitely. */
const longestWaitMs = 500;

interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: number;
}

/**
 * Reports changes below a folder. Quick changes lead to one report. Watches each subfolder separately, and thus can skip node_modules. The
 * listener must call `follow` for new folders before it reads files.
 */
export class FolderWatch {
  readonly #root: string;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #quietTimer: NodeJS.Timeout | undefined;
  #firstMs = 0;
  /** The error message if the system allows no more watches. Some folders are then not watched. */
  problem: string | undefined;

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /**
   * Watches all existing folders. `isIgnored` receives a path relative to the root, and returns true for folders to skip with their
   * subfolders.
   */
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
      // Ignores the error of a folder that no longer exists. Its deletion is reported as a change.
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
