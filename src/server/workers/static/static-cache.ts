import type { StaticFile } from "./static-file.js";

const budgetBytes = 64 * 1024 * 1024;
/** What an entry costs beyond its body. */
const entryBytes = 512;

interface CachedFile {
  readonly file: StaticFile;
  /** When the file was last seen on disk, on the clock of `performance.now()`. */
  checkedMs: number;
  readonly shelf: Map<string, CachedFile>;
  readonly key: string;
}

/** The files of one site that are in the cache. */
export type CacheShelf = Map<string, CachedFile>;

/**
 * Files of all sites that were asked for lately, within one budget. Those go first whose last look at the disk is longest ago: all that
 * are in use are looked at every second.
 */
export class StaticCache {
  readonly #files = new Set<CachedFile>();
  #bytes = 0;

  set(shelf: CacheShelf, key: string, file: StaticFile): void {
    this.delete(shelf, key);
    const cached = { file, checkedMs: performance.now(), shelf, key };
    shelf.set(key, cached);
    this.#files.add(cached);
    this.#bytes += cost(file);
    for (const oldest of this.#files) {
      if (this.#bytes <= budgetBytes) break;
      this.delete(oldest.shelf, oldest.key);
    }
  }

  delete(shelf: CacheShelf, key: string): void {
    const cached = shelf.get(key);
    if (!cached) return;
    shelf.delete(key);
    this.#files.delete(cached);
    this.#bytes -= cost(cached.file);
  }

  deleteAll(shelf: CacheShelf): void {
    for (const key of shelf.keys()) this.delete(shelf, key);
  }
}

function cost(file: StaticFile): number {
  return (file.body?.length ?? 0) + entryBytes;
}
