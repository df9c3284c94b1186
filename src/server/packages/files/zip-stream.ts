import { once } from "node:events";
import { closeSync, createReadStream } from "node:fs";
import { opendir } from "node:fs/promises";
import { PassThrough, pipeline, Readable } from "node:stream";
import { ZipArchive } from "archiver";
import type { MetadataFileName } from "../../../shared/metadata-file-names.js";
import type { DirectoryHandle } from "./directory-handle.js";
import { readMasked } from "./masked-manifest.js";

/** Lowest compression level of zip and the fastest, because a user usually downloads an archive once. */
const compressionLevel = 1;
const deepestTree = 100;

/** One folder or entry to add to a zip archive. */
export interface ZipPart {
  /** Opens the folder that contains the entry. Without `entry`, opens the folder that is added as a whole. */
  readonly open: () => DirectoryHandle;
  /**
   * The file or folder to pack. If undefined, the archive contains the whole opened folder. `entryName` is the name of the packed file or
   * folder in the archive.
   */
  readonly entry?: string;
  readonly entryName?: string;
  /** Text before the names of all entries in the zip archive. */
  readonly prefix: string;
  /** Returns whether the archive contains an entry. `names` are the path segments below the opened folder. */
  readonly isShown: (names: readonly string[]) => boolean;
  /** Returns the name of a metadata file whose `env` values must be masked. Returns undefined for every other file. */
  readonly maskedName: (names: readonly string[]) => MetadataFileName | undefined;
}

interface ZipEntry {
  readonly name: string;
  readonly modified: Date;
  /** Descriptor of a file. The code that receives the entry must close the descriptor. Undefined for a folder. */
  readonly descriptor: number | undefined;
  readonly maskedName?: MetadataFileName | undefined;
}

/**
 * Generates a zip archive while the client reads the stream. One file is open at a time, and no file is completely in memory. Omits links
 * and entries that are deleted meanwhile.
 */
export function zipStream(parts: readonly ZipPart[]): Readable {
  const archive = new ZipArchive({ zlib: { level: compressionLevel } });
  const output = new PassThrough();
  const ending = new AbortController();
  output.once("close", () => {
    ending.abort();
    archive.abort();
  });
  pipeline(archive, output, () => undefined);
  fill(archive, parts, ending.signal).catch((error: unknown) => output.destroy(error as Error));
  return output;
}

async function fill(archive: ZipArchive, parts: readonly ZipPart[], signal: AbortSignal): Promise<void> {
  for (const part of parts) {
    const folder = part.open();
    try {
      for await (const entry of entriesOf(folder, part)) await append(archive, entry, signal);
    } finally {
      folder.close();
    }
  }
  await archive.finalize();
}

/** Adds an entry to the archive. Resolves when the entry is written, so that only one file is open at a time. */
async function append(archive: ZipArchive, entry: ZipEntry, signal: AbortSignal): Promise<void> {
  const { name, modified: date, descriptor } = entry;
  const bytes = descriptor === undefined ? undefined : contentOf(descriptor, entry);
  try {
    signal.throwIfAborted();
    const taken = once(archive, "entry", { signal });
    if (bytes) archive.append(bytes, { name, date, mode: 0o644 });
    else archive.append("", { name: `${name}/`, date, mode: 0o755, type: "directory" });
    await taken;
  } finally {
    bytes?.destroy();
  }
}

/** Returns the content of a file as a stream, and closes the descriptor. */
function contentOf(descriptor: number, { maskedName }: ZipEntry): Readable {
  if (maskedName === undefined) return createReadStream("", { fd: descriptor });
  try {
    return Readable.from([readMasked(descriptor, maskedName)]);
  } finally {
    closeSync(descriptor);
  }
}

async function* entriesOf(folder: DirectoryHandle, { entry, entryName = entry ?? "", ...part }: ZipPart): AsyncGenerator<ZipEntry> {
  const way = { ...part, above: [] };
  if (entry === undefined) yield* tree(folder, way);
  else for await (const file of entryOf(folder, entry, way)) yield { ...file, name: entryName };
}

interface Way extends Pick<ZipPart, "prefix" | "isShown" | "maskedName"> {
  readonly above: readonly string[];
}

async function* tree(folder: DirectoryHandle, way: Way): AsyncGenerator<ZipEntry> {
  for await (const { name } of await opendir(folder.path)) {
    if (way.isShown([...way.above, name])) yield* entryOf(folder, name, way);
  }
}

async function* entryOf(folder: DirectoryHandle, name: string, way: Way): AsyncGenerator<ZipEntry> {
  const { above } = way;
  const stat = folder.stat(name);
  const zipName = way.prefix + name;
  if (stat?.isFile()) {
    const descriptor = attempt(() => folder.openFile(name));
    if (descriptor !== undefined) yield { name: zipName, modified: stat.mtime, descriptor, maskedName: way.maskedName([...above, name]) };
  } else if (stat?.isDirectory() && above.length < deepestTree) {
    const inner = attempt(() => folder.enter(name));
    if (!inner) return;
    try {
      yield { name: zipName, modified: stat.mtime, descriptor: undefined };
      yield* tree(inner, { ...way, prefix: `${zipName}/`, above: [...above, name] });
    } finally {
      inner.close();
    }
  }
}

/** Returns the result of `open`. Returns undefined if the entry was deleted, was replaced by a link or is not readable. */
function attempt<Value>(open: () => Value): Value | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
