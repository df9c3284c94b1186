import { closeSync, createReadStream, fstatSync, statSync } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { ApiError } from "../../../shared/api-error.js";
import { installationFileName } from "../../../shared/installation-file-name.js";
import type { Download, FileDownload } from "../../platform/download.js";
import type { FileEntry } from "../../../shared/contract/files.js";
import { asReadFailure, notFound, throughLink } from "./file-transaction.js";
import { Readable } from "node:stream";
import type { MetadataFileName } from "../../../shared/metadata-file-names.js";
import { metadataFileAt, readMasked } from "./masked-manifest.js";
import { etagOf } from "./file-etag.js";
import { packageNameAt, type FileCaller, type ResolvedPath, type FilePaths } from "./file-paths.js";
import { inDirectoryHandle, DirectoryHandle } from "./directory-handle.js";
import { zipStream, type ZipPart } from "./zip-stream.js";

/** Maximum number of entries in the list of a folder. The whole list is in memory, so the limit bounds the memory. */
const mostEntries = 10_000;
const readAheadBytes = 256 * 1024;

export interface FolderListing {
  readonly path: string;
  readonly entries: FileEntry[];
  readonly hasMore?: true;
}

/** Lists the folders and then the files in a folder, each sorted by name. For the empty path, lists the mounts. */
export async function listFiles(paths: FilePaths, text: string, caller: FileCaller): Promise<FolderListing> {
  const resolved = paths.readable(text, caller);
  if (!resolved) return { path: "", entries: paths.mounts.flatMap(({ name, path }) => mountEntry(name, path)) };
  try {
    const folder = DirectoryHandle.open(resolved.mount.path, resolved.below);
    try {
      return await listFolder(folder, resolved, caller);
    } finally {
      folder.close();
    }
  } catch (error) {
    throw asReadFailure(error, text);
  }
}

/** Returns the download of a file, or of a folder as a zip archive. */
export function downloadFile(paths: FilePaths, text: string, caller: FileCaller): Download {
  const resolved = resolveDownload(paths, text, caller);
  const found = find(resolved, text);
  const name = resolved.below.at(-1) ?? resolved.mount.name;
  const maskedName = maskedIn(resolved.below.slice(0, -1), caller)([name]);
  if (found !== "folder") return maskedName === undefined ? fileDownload(name, found) : maskedDownload(maskedName, found);
  const part = {
    open: () => DirectoryHandle.open(resolved.mount.path, resolved.below),
    prefix: "",
    isShown: shownIn(resolved.below, caller),
    maskedName: maskedIn(resolved.below, caller),
  };
  return { filename: `${name}.zip`, open: () => zipStream([part]) };
}

/**
 * Returns the download of several files and folders as one zip archive. If two entries have the same name, the later name gets a number.
 */
export function downloadFiles(paths: FilePaths, texts: readonly string[], caller: FileCaller): Download {
  const taken = new Set<string>();
  const parts = texts.map((text): ZipPart => {
    const resolved = resolveDownload(paths, text, caller);
    const found = find(resolved, text);
    if (found !== "folder") closeSync(found);
    const name = resolved.below.at(-1) ?? resolved.mount.name;
    const zipName = freeName(name, taken);
    if (found === "folder") {
      const open = () => DirectoryHandle.open(resolved.mount.path, resolved.below);
      return { open, prefix: `${zipName}/`, isShown: shownIn(resolved.below, caller), maskedName: maskedIn(resolved.below, caller) };
    }
    const above = resolved.below.slice(0, -1);
    const open = () => DirectoryHandle.open(resolved.mount.path, above);
    return { open, entry: name, entryName: zipName, prefix: "", isShown: () => true, maskedName: maskedIn(above, caller) };
  });
  return { filename: "files.zip", open: () => zipStream(parts) };
}

function resolveDownload(paths: FilePaths, text: string, caller: FileCaller): ResolvedPath {
  const resolved = paths.readable(text, caller);
  if (resolved) return resolved;
  throw new ApiError(
    "PATH_REQUIRED",
    "The path is not a file or folder that can be downloaded. Begin the path with a directory from the file list.",
  );
}

/** Opens a file and returns the descriptor, which the caller must close. Returns "folder" if the path is a folder. */
function find({ mount, below }: ResolvedPath, text: string): number | "folder" {
  const name = below.at(-1);
  try {
    return inDirectoryHandle(DirectoryHandle.open(mount.path, below.slice(0, -1)), (folder) => {
      const stat = name === undefined ? undefined : folder.stat(name);
      if (name === undefined || stat?.isDirectory()) return "folder";
      if (stat?.isSymbolicLink()) throw throughLink(text);
      const descriptor = stat && folder.openFile(name);
      if (descriptor === undefined) throw notFound(text);
      return descriptor;
    });
  } catch (error) {
    throw asReadFailure(error, text);
  }
}

function fileDownload(filename: string, descriptor: number): FileDownload {
  const stat = fstatSync(descriptor, { bigint: true });
  return {
    filename,
    sizeBytes: Number(stat.size),
    modifiedMs: Number(stat.mtimeMs),
    etag: etagOf(stat),
    open: ({ start, end }) => createReadStream("", { fd: descriptor, start, end, highWaterMark: readAheadBytes }),
    close: () => closeSync(descriptor),
  };
}

/**
 * Returns the download of a metadata file with masked values of `env`. The ETag differs from the ETag of the file, because the content
 * differs.
 */
function maskedDownload(name: MetadataFileName, descriptor: number): FileDownload {
  const { modifiedMs, etag, close } = fileDownload(name, descriptor);
  const bytes = readMasked(descriptor, name);
  const open = ({ start, end }: { start: number; end: number }) => {
    close();
    return Readable.from([bytes.subarray(start, end + 1)]);
  };
  return { filename: name, sizeBytes: bytes.length, modifiedMs, etag: etag.replace(/"$/, '-masked"'), open, close };
}

/**
 * Returns a function for the entries below a path. The returned function returns the name of a metadata file whose `env` values the caller
 * must not see, otherwise undefined.
 */
function maskedIn(below: readonly string[], caller: FileCaller): (names: readonly string[]) => MetadataFileName | undefined {
  return (names) => (caller.seesValues ? undefined : metadataFileAt([...below, ...names]));
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length;
  for (let count = 2; taken.has(free); count += 1) free = `${name.slice(0, dot)}-${count}${name.slice(dot)}`;
  taken.add(free);
  return free;
}

async function listFolder(folder: DirectoryHandle, { path, below }: ResolvedPath, caller: FileCaller): Promise<FolderListing> {
  const isShown = shownIn(below, caller);
  const entries: FileEntry[] = [];
  let hasMore = false;
  for await (const { name } of await opendir(folder.path)) {
    if (!isShown([name])) continue;
    hasMore = entries.length === mostEntries;
    if (hasMore) break;
    const stat = await lstat(folder.pathOf(name)).catch(() => undefined);
    if (stat) entries.push(entryOf(name, `${path}/${name}`, stat));
  }
  entries.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || (a.name < b.name ? -1 : 1));
  return { path, entries, ...(hasMore && { hasMore }) };
}

/**
 * Returns a function that returns whether the caller is allowed to see an entry. Hidden folders and packages outside the caller's
 * namespaces are not visible.
 */
function shownIn(below: readonly string[], caller: FileCaller): (names: readonly string[]) => boolean {
  return (names) => {
    const all = [...below, ...names];
    if (all.at(-1) === installationFileName) return false;
    if (all.length > 2) return true;
    const name = packageNameAt(all);
    return !all[0]?.startsWith(".") && (name === undefined || caller.covers(name));
  };
}

function mountEntry(name: string, directory: string): FileEntry[] {
  const stat = statSync(directory, { throwIfNoEntry: false });
  return stat?.isDirectory() ? [entryOf(name, name, stat)] : [];
}

function entryOf(name: string, path: string, stat: { isDirectory(): boolean; size: number; mtimeMs: number }): FileEntry {
  const isDirectory = stat.isDirectory();
  return { name, path, isDirectory, size: isDirectory ? 0 : stat.size, updatedAt: Math.floor(stat.mtimeMs / 1000) };
}
