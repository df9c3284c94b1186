import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { list, type ReadEntry } from "tar";
import { openPromise, type Entry } from "yauzl";
import { ApiError } from "../../shared/api-error.js";
import { entrySegments } from "../../shared/archive/entry-name.js";
import { EntryTree } from "../../shared/archive/entry-tree.js";
import { installationFileName } from "../../shared/installation-file-name.js";
import { invalidArchive, unsupportedEntry } from "../../shared/archive/refusal.js";
import type { PackedFile } from "./pack-plan.js";

export interface UnpackedArchive {
  /** Path of the package root in the unpacked archive. */
  readonly folder: string;
  readonly files: readonly PackedFile[];
}

interface Entering {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "device";
  readonly executable: boolean;
}

const [fileTypeMask, linkType, executableBits] = [0o170000, 0o120000, 0o111];

/**
 * Unpacks an archive into the empty folder `directory`. Names of entries must follow the rules of the daemon. Throws `INVALID_ARCHIVE`,
 * `PATH_TRAVERSAL` or `UNSUPPORTED_ENTRY`.
 */
export async function unpackArchive(archive: string, directory: string): Promise<UnpackedArchive> {
  const isZip = archive.toLowerCase().endsWith(".zip");
  const target = new Target(directory);
  try {
    await (isZip ? unpackZip(archive, target) : unpackTar(archive, target));
  } catch (error) {
    throw error instanceof ApiError ? error : invalidArchive((error as Error).message, error);
  }
  return target.unpacked(isZip ? "zip" : "tar");
}

/** The folder into which an archive is unpacked, with the files that have been unpacked so far. */
class Target {
  readonly #directory: string;
  readonly #tree = new EntryTree();
  readonly #files: { name: string; sizeBytes: number; executable: boolean }[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Unpacks one archive entry to the disk. For a file, returns a function that takes each chunk, and then `undefined` to close the file.
   * For a folder, returns undefined.
   */
  enter({ name, kind, executable }: Entering): ((piece: Uint8Array | undefined) => void) | undefined {
    if (kind === "link" || kind === "device") throw unsupportedEntry(name, `a ${kind}`);
    const segments = entrySegments(name, kind);
    if (kind === "directory") {
      this.#tree.addDirectory(segments);
      return undefined;
    }
    this.#tree.addFile(segments);
    const target = path.join(this.#directory, ...segments);
    mkdirSync(path.dirname(target), { recursive: true });
    const descriptor = openSync(target, "wx", 0o600);
    const file = { name: segments.join("/"), sizeBytes: 0, executable };
    this.#files.push(file);
    return (piece) => {
      if (piece === undefined) return closeSync(descriptor);
      writeSync(descriptor, piece);
      file.sizeBytes += piece.length;
    };
  }

  unpacked(format: "tar" | "zip"): UnpackedArchive {
    if (this.#files.length === 0) throw invalidArchive("it contains no files");
    const root = this.#tree.packageRoot(format);
    const below = root === "" ? "" : `${root}/`;
    // Leaves out the installation record, because the daemon writes a new record for each upload.
    const packed = this.#files.filter(({ name }) => name !== below + installationFileName);
    const files = packed.map(({ name, sizeBytes, executable }) => ({
      path: name.slice(below.length),
      source: path.join(this.#directory, name),
      sizeBytes,
      rule: "in the archive",
      executable,
    }));
    return { folder: path.join(this.#directory, root), files: files.toSorted((left, right) => (left.path < right.path ? -1 : 1)) };
  }
}

async function unpackTar(archive: string, target: Target): Promise<void> {
  let failure: Error | undefined;
  const onReadEntry = (entry: ReadEntry) => {
    try {
      if (failure === undefined) receive(entry, target);
    } catch (error) {
      failure = error as Error;
    }
  };
  await list({ file: archive, strict: true, onReadEntry });
  if (failure !== undefined) throw failure;
}

function receive(entry: ReadEntry, target: Target): void {
  const kind = tarKind(entry.type);
  const write = target.enter({ name: entry.path, kind, executable: ((entry.mode ?? 0) & executableBits) !== 0 });
  if (!write) return;
  entry.on("data", (piece: Buffer) => write(piece));
  entry.on("end", () => write(undefined));
}

function tarKind(type: string): Entering["kind"] {
  if (type === "File" || type === "OldFile" || type === "ContiguousFile") return "file";
  if (type === "Directory" || type === "GNUDumpDir") return "directory";
  return type.endsWith("Link") ? "link" : "device";
}

async function unpackZip(archive: string, target: Target): Promise<void> {
  const zip = await openPromise(archive, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      const write = target.enter(zipEntry(entry));
      if (!write) continue;
      for await (const piece of await zip.openReadStreamPromise(entry)) write(piece as Buffer);
      write(undefined);
    }
  } finally {
    zip.close();
  }
}

function zipEntry(entry: Entry): Entering {
  const mode = entry.externalFileAttributes >>> 16;
  const kind = (mode & fileTypeMask) === linkType ? "link" : entry.fileName.endsWith("/") ? "directory" : "file";
  return { name: entry.fileName, kind, executable: (mode & executableBits) !== 0 };
}
