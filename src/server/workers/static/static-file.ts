import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { open, readlink, realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";
import compressible from "compressible";
import { contentType } from "mime-types";
import { leastCompressedBytes, type ContentCoding } from "../../web/content-coding.js";
import { isPathWithin } from "../../platform/path-within.js";

/** Maximum size in bytes of a file that the daemon keeps in memory. The daemon streams a larger file from the disk. */
const inMemoryBytes = 256 * 1024;
/**
 * Maximum size in bytes of a file that the daemon compresses. For a larger file, the compression takes longer than the first client saves
 * by the smaller transfer.
 */
const mostCompressedBytes = 10 * 1024 * 1024;

const unknownType = "application/octet-stream";

/**
 * Maximum number of attempts to open a file. If a replacement moves the package folder during one attempt, the next attempt finds the new
 * folder.
 */
const openAttempts = 3;
/** Flags for opening a file. O_NONBLOCK prevents a named pipe from blocking. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK;
const budgetBytes = 64 * 1024 * 1024;
/** Approximate memory in bytes of a cache entry without the body of the file. */
const entryBytes = 512;

/** A file of a site with its headers. A small file has a body. A large file has an open handle. */
export interface StaticFile {
  /** Path relative to the site's root. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly etag: string;
  readonly type: string;
  readonly body: Buffer | undefined;
  /** Open handle of a large file, which the caller must close. Undefined if `body` is set. */
  readonly handle: FileHandle | undefined;
  readonly marks: FileMarks;
  /** True if the daemon compresses the file for clients that accept a content coding. */
  readonly isCompressible: boolean;
  /** Content coding of `body`. Undefined for the content on the disk. */
  readonly coding?: ContentCoding;
  /** Headers for validation and caching, such as `etag`. The list contains name, value, next name, next value. */
  readonly validatorPairs: readonly string[];
  /** The headers of `validatorPairs` as text of the HTTP response. */
  readonly validatorLines: string;
}

/** Settings in the manifest of a site that apply to one file. */
interface FileMarks {
  /** Response headers with lower-case names, which override the default headers. */
  readonly headers: readonly (readonly [string, string])[];
  /** True if the content of the file never changes. Clients can then cache it permanently. */
  readonly isImmutable: boolean;
}

export interface SiteFolder {
  /** Path of the root folder of the site. Symbolic links are resolved. */
  readonly root: string;
  readonly generation: string;
  /** Returns the settings of a file. `relative` is the file's path below the root. */
  readonly marksOf: (relative: string) => FileMarks;
}

/**
 * Reads a file below the root and follows symbolic links. Returns "directory" for a folder. Returns undefined if the daemon must not serve
 * the path.
 */
export async function readStaticFile(folder: SiteFolder, file: string): Promise<StaticFile | "directory" | undefined> {
  const opened = await openBelow(folder.root, file);
  if (!opened) return undefined;
  const { handle, stats, realPath } = opened;
  let isReturned = false;
  try {
    const relative = path.relative(folder.root, realPath);
    if (relative.split(path.sep).some((segment) => segment.startsWith("."))) return undefined;
    if (stats.isDirectory()) return "directory";
    if (!stats.isFile()) return undefined;
    const type = contentType(path.extname(realPath)) || unknownType;
    const marks = folder.marksOf(relative);
    const facts = { path: relative, modifiedMs: stats.mtimeMs, type, marks, isCompressible: isCompressible(type, stats.size, marks) };
    if (stats.size > inMemoryBytes) {
      isReturned = true;
      // Derives the ETag of a large file from the generation of the package folder, size and modification time. Files of an archive can
      // have the same time, so a small file has an ETag of its content.
      const etag = etagOf(`${folder.generation} ${stats.size} ${stats.mtimeMs}`);
      return withValidators({ ...facts, body: undefined, handle, sizeBytes: stats.size, etag });
    }
    const body = await handle.readFile();
    return withValidators({ ...facts, body, handle: undefined, sizeBytes: body.length, etag: etagOf(body) });
  } finally {
    if (!isReturned) await handle.close();
  }
}

/**
 * Opens a file and then checks its resolved path. An earlier check would be invalid if a process replaced a folder by a link in the
 * meantime. Returns undefined if the path is outside the root.
 */
async function openBelow(root: string, file: string): Promise<{ handle: FileHandle; stats: Stats; realPath: string } | undefined> {
  for (let attempt = 0; attempt < openAttempts; attempt += 1) {
    const handle = await open(file, openFlags).catch(() => undefined);
    if (!handle) return undefined;
    try {
      const stats = await handle.stat();
      const realPath = await realPathOf(handle, file);
      // A deleted file counts as missing, because its path in /proc is not valid.
      const isThere = stats.nlink > 0;
      if (isThere && realPath !== undefined && isPathWithin(realPath, root)) return { handle, stats, realPath };
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
  }
  return undefined;
}

/** Returns the resolved path of an open file. Without /proc, resolves the path `file` again. */
async function realPathOf({ fd }: FileHandle, file: string): Promise<string | undefined> {
  return await readlink(`/proc/self/fd/${fd}`).catch(() => realpath(file).catch(() => undefined));
}

/** Returns a copy of the file with other content and an ETag for this content. */
export function withContent(file: StaticFile, content: Buffer): StaticFile {
  return withValidators({ ...file, body: content, sizeBytes: content.length, etag: etagOf(content) });
}

/** Returns a copy of the file with compressed content. The copy has another ETag than the file. */
export function inCoding(file: StaticFile, coding: ContentCoding, compressed: Buffer): StaticFile {
  const etag = `${file.etag.slice(0, -1)}-${coding}"`;
  return withValidators({ ...file, body: compressed, handle: undefined, sizeBytes: compressed.length, etag, coding });
}

function isCompressible(type: string, sizeBytes: number, { headers }: FileMarks): boolean {
  if (sizeBytes < leastCompressedBytes || sizeBytes > mostCompressedBytes) return false;
  // Does not compress a file of unknown type, because such a file is often compressed already.
  if (type === unknownType || compressible(type) !== true) return false;
  return !headers.some(([name, value]) => name === "content-encoding" || (name === "cache-control" && value.includes("no-transform")));
}

function withValidators(file: Omit<StaticFile, "validatorPairs" | "validatorLines">): StaticFile {
  const headers = new Map([
    ["etag", file.etag],
    ["last-modified", new Date(file.modifiedMs).toUTCString()],
    ["accept-ranges", "bytes"],
    // With `no-cache`, clients validate the file at each use, so a new upload is visible immediately.
    ["cache-control", file.marks.isImmutable ? "public, max-age=31536000, immutable" : "no-cache"],
    ["x-content-type-options", "nosniff"],
    ...file.marks.headers,
  ]);
  const vary = headers.get("vary");
  if (file.isCompressible) headers.set("vary", vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`);
  const pairs = [...headers];
  return { ...file, validatorPairs: pairs.flat(), validatorLines: pairs.map(([name, value]) => `${name}: ${value}\r\n`).join("") };
}

function etagOf(content: Buffer | string): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

interface CachedFile {
  readonly file: StaticFile;
  /** Time in milliseconds at which the file was last read from the disk or checked, on the clock of `performance.now()`. */
  checkedMs: number;
  readonly siteCache: Map<string, CachedFile>;
  readonly key: string;
}

/** Cached files of one site. */
export type SiteCache = Map<string, CachedFile>;

/**
 * Cache of recently requested files of all sites, of at most 64 MB. Removes the file whose last read from the disk is oldest. A file in use
 * is read from the disk again each second.
 */
export class StaticCache {
  readonly #files = new Set<CachedFile>();
  #bytes = 0;

  set(siteCache: SiteCache, key: string, file: StaticFile): void {
    this.delete(siteCache, key);
    const cached = { file, checkedMs: performance.now(), siteCache, key };
    siteCache.set(key, cached);
    this.#files.add(cached);
    this.#bytes += cost(file);
    for (const oldest of this.#files) {
      if (this.#bytes <= budgetBytes) break;
      this.delete(oldest.siteCache, oldest.key);
    }
  }

  delete(siteCache: SiteCache, key: string): void {
    const cached = siteCache.get(key);
    if (!cached) return;
    siteCache.delete(key);
    this.#files.delete(cached);
    this.#bytes -= cost(cached.file);
  }

  deleteAll(siteCache: SiteCache): void {
    for (const key of siteCache.keys()) this.delete(siteCache, key);
  }
}

function cost(file: StaticFile): number {
  return (file.body?.length ?? 0) + entryBytes;
}
