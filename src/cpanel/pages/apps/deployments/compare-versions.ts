import type { FileEntry } from "../../../../shared/contract/files.js";
import type { FileApi } from "../../files/file-operations.js";
import { readFile } from "../../files/read-file.js";
import { toBytesText } from "../../files/file-text.js";

/** Maximum number of files of one version to compare. */
export const mostCompared = 500;
/** Maximum number of files of equal size whose contents are compared. Each comparison of contents needs two requests. */
const mostRead = 100;
/** Number of simultaneous requests. Browsers allow 6 connections per host with HTTP/1.1, and the event stream needs one of them. */
const readsAtOnce = 4;
/** Folder with installed npm packages. The comparison skips its files. */
const packagesFolder = "node_modules";

/** A file that differs between two versions. Paths are relative to the version folder, sizes in bytes. */
export interface ChangedFile {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly sizeBefore: number | undefined;
  readonly sizeAfter: number | undefined;
}

export interface VersionComparison {
  readonly files: readonly ChangedFile[];
  /** Number of files with equal contents in both versions. */
  readonly equal: number;
  /**
   * Number of files of equal size whose contents the panel did not read, because a file is too large or the number of such files is too
   * high.
   */
  readonly unread: number;
  /** Whether at least one version has more files than the panel compares. */
  readonly isPartial: boolean;
}

interface ListedFiles {
  readonly sizes: ReadonlyMap<string, number>;
  readonly isPartial: boolean;
}

/**
 * Compares the files of two version folders. Reads the contents of a file only if both sizes are equal. Throws an `ApiError` such as
 * `PATH_NOT_FOUND`.
 */
export async function compareVersions(api: FileApi, before: string, after: string, signal: AbortSignal): Promise<VersionComparison> {
  const [old, now] = await Promise.all([listFiles(api, before, signal), listFiles(api, after, signal)]);
  const files: ChangedFile[] = [];
  const sameSize: string[] = [];
  for (const path of new Set([...old.sizes.keys(), ...now.sizes.keys()])) {
    const [sizeBefore, sizeAfter] = [old.sizes.get(path), now.sizes.get(path)];
    if (sizeBefore === sizeAfter) sameSize.push(path);
    else
      files.push({
        path,
        kind: sizeBefore === undefined ? "added" : sizeAfter === undefined ? "removed" : "changed",
        sizeBefore,
        sizeAfter,
      });
  }
  const [read, rest] = [sameSize.slice(0, mostRead), sameSize.slice(mostRead)];
  const results = await inParallel(read, async (path) => ({
    path,
    isEqual: await isEqual(api, `${before}/${path}`, `${after}/${path}`, signal),
  }));
  for (const { path, isEqual: equal } of results)
    if (equal === false) files.push({ path, kind: "changed", sizeBefore: old.sizes.get(path), sizeAfter: now.sizes.get(path) });
  return {
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    equal: results.filter((result) => result.isEqual === true).length,
    unread: rest.length + results.filter((result) => result.isEqual === undefined).length,
    isPartial: old.isPartial || now.isPartial,
  };
}

/** Lists the files below a folder, breadth first, until the maximum number. */
async function listFiles(api: FileApi, folder: string, signal: AbortSignal): Promise<ListedFiles> {
  const sizes = new Map<string, number>();
  let isPartial = false;
  let level = [""];
  while (level.length > 0 && sizes.size < mostCompared) {
    const lists = await inParallel(level, async (below) => {
      signal.throwIfAborted();
      const { entries, hasMore } = (await api.list({ query: { path: below === "" ? folder : `${folder}/${below}` } })).data;
      isPartial ||= hasMore === true;
      return entries.map((entry) => ({ entry, path: below === "" ? entry.name : `${below}/${entry.name}` }));
    });
    const found = lists.flat();
    for (const { entry, path } of found) if (!entry.isDirectory && sizes.size < mostCompared) sizes.set(path, entry.size);
    level = found.filter(({ entry }) => isCompared(entry)).map(({ path }) => path);
  }
  return { sizes, isPartial: isPartial || sizes.size >= mostCompared };
}

function isCompared({ isDirectory, name }: FileEntry): boolean {
  return isDirectory && name !== packagesFolder;
}

/** Whether two files of the same size are equal. Undefined if they are too large to read. */
async function isEqual(api: FileApi, before: string, after: string, signal: AbortSignal): Promise<boolean | undefined> {
  const [old, now] = await Promise.all([readFile(api, before, signal), readFile(api, after, signal)]);
  if (old.kind !== "text" || now.kind !== "text") return old.kind === now.kind ? undefined : false;
  return toBytesText(old.text) === toBytesText(now.text);
}

async function inParallel<Item, Result>(items: readonly Item[], run: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += readsAtOnce)
    results.push(...(await Promise.all(items.slice(start, start + readsAtOnce).map((item) => run(item)))));
  return results;
}
