import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { open, readlink, realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";
import compressible from "compressible";
import { contentType } from "mime-types";
import { leastCompressedBytes, type ContentCoding } from "../../web/content-coding.js";
import { isPathWithin } from "../../platform/path-within.js";

/** Larger files are streamed from the disk. */
const inMemoryBytes = 256 * 1024;
/** Larger files would keep the first client waiting for longer than they save. */
const mostCompressedBytes = 10 * 1024 * 1024;

const unknownType = "application/octet-stream";

/** A package that is being replaced moves away under an open file; then the new one is there. */
const openAttempts = 3;
/** A named pipe is not waited for. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK;
const budgetBytes = 64 * 1024 * 1024;
/** What an entry costs beyond its body. */
const entryBytes = 512;

/** A file of a site as it is sent: its bytes or, of a large one, a handle, and the headers that describe it. */
export interface StaticFile {
  /** Below the root of the site. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly etag: string;
  readonly type: string;
  readonly body: Buffer | undefined;
  /** Open; the caller that gets the file closes it. Undefined where there is a body. */
  readonly handle: FileHandle | undefined;
  readonly marks: FileMarks;
  /** Clients that take a content coding get the file in it. */
  readonly isCompressible: boolean;
  /** Of the body; the file as it lies on the disk has none. */
  readonly coding?: ContentCoding;
  /** The headers that a client needs to ask again: name, value, name, value … */
  readonly validatorPairs: readonly string[];
  /** The same as lines of the wire. */
  readonly validatorLines: string;
}

/** What a site says of a file beyond its content. */
interface FileMarks {
  /** Lower-case names and values, in place of ours where both have one. */
  readonly headers: readonly (readonly [string, string])[];
  /** It never changes under this name. */
  readonly isImmutable: boolean;
}

/** The folder of a site. */
export interface SiteFolder {
  /** A real path. */
  readonly root: string;
  readonly generation: string;
  /** `relative` is the file's path below the root. */
  readonly marksOf: (relative: string) => FileMarks;
}

/** Reads a file that lies below the root, links included; "directory" when it is one, undefined when nothing may be served. */
export async function readStaticFile(folder: SiteFolder, file: string): Promise<StaticFile | "directory" | undefined> {
  const opened = await openBelow(folder.root, file);
  if (!opened) return undefined;
  const { handle, stats, realPath } = opened;
  let isHandedOn = false;
  try {
    const relative = path.relative(folder.root, realPath);
    if (relative.split(path.sep).some((segment) => segment.startsWith("."))) return undefined;
    if (stats.isDirectory()) return "directory";
    if (!stats.isFile()) return undefined;
    const type = contentType(path.extname(realPath)) || unknownType;
    const marks = folder.marksOf(relative);
    const facts = { path: relative, modifiedMs: stats.mtimeMs, type, marks, isCompressible: isCompressible(type, stats.size, marks) };
    if (stats.size > inMemoryBytes) {
      isHandedOn = true;
      // Archives carry the same modification time for years: small files are told apart by content, large ones by generation.
      const etag = etagOf(`${folder.generation} ${stats.size} ${stats.mtimeMs}`);
      return withValidators({ ...facts, body: undefined, handle, sizeBytes: stats.size, etag });
    }
    const body = await handle.readFile();
    return withValidators({ ...facts, body, handle: undefined, sizeBytes: body.length, etag: etagOf(body) });
  } finally {
    if (!isHandedOn) await handle.close();
  }
}

/**
 * Opens a path, and looks afterwards where that has led: between a look and an opening, another process could put a link in the place of a
 * folder. Undefined when it led outside of the root.
 */
async function openBelow(root: string, file: string): Promise<{ handle: FileHandle; stats: Stats; realPath: string } | undefined> {
  for (let attempt = 0; attempt < openAttempts; attempt += 1) {
    const handle = await open(file, openFlags).catch(() => undefined);
    if (!handle) return undefined;
    try {
      const stats = await handle.stat();
      const realPath = await realPathOf(handle, file);
      // Of a file that was deleted meanwhile the system tells no path.
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

/** Where an open file lies. A system without /proc has nothing better than its path. */
async function realPathOf({ fd }: FileHandle, file: string): Promise<string | undefined> {
  return await readlink(`/proc/self/fd/${fd}`).catch(() => realpath(file).catch(() => undefined));
}

/** The same file with other content. */
export function withContent(file: StaticFile, content: Buffer): StaticFile {
  return withValidators({ ...file, body: content, sizeBytes: content.length, etag: etagOf(content) });
}

/** The same file in a content coding, with an ETag of its own. */
export function inCoding(file: StaticFile, coding: ContentCoding, compressed: Buffer): StaticFile {
  const etag = `${file.etag.slice(0, -1)}-${coding}"`;
  return withValidators({ ...file, body: compressed, handle: undefined, sizeBytes: compressed.length, etag, coding });
}

function isCompressible(type: string, sizeBytes: number, { headers }: FileMarks): boolean {
  if (sizeBytes < leastCompressedBytes || sizeBytes > mostCompressedBytes) return false;
  // A type that is unknown is compressed already, as often as not.
  if (type === unknownType || compressible(type) !== true) return false;
  return !headers.some(([name, value]) => name === "content-encoding" || (name === "cache-control" && value.includes("no-transform")));
}

function withValidators(file: Omit<StaticFile, "validatorPairs" | "validatorLines">): StaticFile {
  const headers = new Map([
    ["etag", file.etag],
    ["last-modified", new Date(file.modifiedMs).toUTCString()],
    ["accept-ranges", "bytes"],
    // Always asked again: an upload must be seen at once.
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
