import type { StaticFile } from "./static-file.js";

const budgetBytes = 64 * 1024 * 1024;
/** What an entry costs beyond its body. */
const entryBytes = 512;

/** Files of all sites that were asked for lately; the least recently used go first. */
export class StaticCache {
  readonly #files = new Map<string, { file: StaticFile; checkedMs: number }>();
  #bytes = 0;

  /** `checkedMs` is when the file was last seen on disk, on the clock of `performance.now()`. */
  get(key: string): { file: StaticFile; checkedMs: number } | undefined {
    const found = this.#files.get(key);
    if (!found) return undefined;
    this.#files.delete(key);
    this.#files.set(key, found);
    return found;
  }

  set(key: string, file: StaticFile): void {
    this.delete(key);
    this.#files.set(key, { file, checkedMs: performance.now() });
    this.#bytes += cost(file);
    for (const oldest of this.#files.keys()) {
      if (this.#bytes <= budgetBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const found = this.#files.get(key);
    if (!found) return;
    this.#files.delete(key);
    this.#bytes -= cost(found.file);
  }

  deleteAll(prefix: string): void {
    for (const key of this.#files.keys()) if (key.startsWith(prefix)) this.delete(key);
  }
}

function cost(file: StaticFile): number {
  return (file.body?.length ?? 0) + entryBytes;
}
