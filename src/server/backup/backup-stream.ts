import { createHash } from "node:crypto";
import { open, lstat, readdir } from "node:fs/promises";
import { constants, type BigIntStats } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Header, Pax } from "tar";
import { BackupError, entryNames, type Format, type Manifest, type PackageList } from "./backup-format.js";
import type { DataCopy } from "./data-copies.js";
import { findPackages, type UploadDirectory } from "./upload-directories.js";
import { entrySegments } from "../../shared/archive/entry-name.js";

/** Maximum number of attempts to read a package that changes during the read. After the last attempt, the backup fails. */
const mostAttempts = 100;
/**
 * Maximum number of times that the backup looks for a missing package folder. An upload that replaces a package moves the old folder away
 * before it moves the new folder in.
 */
const mostFolderReads = 10;
const pauseMs = 20;
/**
 * Maximum number of times that the backup lists a directory while new packages appear. The backup omits packages that appear after the last
 * listing.
 */
const mostRounds = 5;
const blockBytes = 512;
const pieceBytes = 256 * 1024;

/** The longest path prefix that a backup adds to the name of a file. */
const longestPrefix = "workers/999/9999999/";

interface BackupSources {
  readonly format: Format;
  /** A copy of the key store that no process changes, and the number of active keys in the copy. */
  readonly keyStore: { readonly file: string; readonly keys: number };
  readonly directories: readonly UploadDirectory[];
  /** Returns a copy of a worker's data folder, which no worker changes. Returns undefined if no daemon runs. */
  readonly copyData: (name: string) => Promise<DataCopy | undefined>;
}

/** Creates the tar archive of one backup as a stream of chunks. */
export class BackupPieces {
  readonly #sources: BackupSources;
  readonly #packages: Manifest["packages"] = [];
  readonly #skipped = new Set<string>();
  #number = 0;

  constructor(sources: BackupSources) {
    this.#sources = sources;
  }

  /** The packages in the backup. The list is complete when the caller has read the whole tar archive. */
  get packages(): Manifest["packages"] {
    return this.#packages;
  }

  /** Absolute paths of entries that the backup omits, such as symbolic links. */
  get skipped(): string[] {
    return [...this.#skipped];
  }

  async *all(): AsyncGenerator<Buffer> {
    const { format, keyStore, directories } = this.#sources;
    yield* document(entryNames.format, format).pieces;
    const { size } = await statOf(keyStore.file);
    const keyStoreSha256 = yield* fileEntry(entryNames.keyStore, keyStore.file, {
      path: "",
      mode: 0o600,
      sizeBytes: size,
      inode: undefined,
    });
    if (keyStoreSha256 === undefined) throw new Error(`${keyStore.file} changed while it was read`);
    for (const directory of directories) yield* this.#directory(directory);
    const manifest: Manifest = { ...format, keyStore: { keys: keyStore.keys, sha256: keyStoreSha256 }, packages: this.#packages };
    yield* document(entryNames.manifest, manifest).pieces;
    yield Buffer.alloc(2 * blockBytes);
  }

  /**
   * Yields the packages of a directory. Lists the directory again until no new package appears, because one listing can miss a folder that
   * is moved at the same time.
   */
  async *#directory(directory: UploadDirectory): AsyncGenerator<Buffer> {
    const taken = new Set<string>();
    for (let round = 1; round <= mostRounds; round += 1) {
      const found = await findPackages(directory);
      for (const link of found.skipped) this.#skipped.add(path.join(directory.path, link));
      const missing = found.packages.filter((packagePath) => !taken.has(packagePath) && !taken.has(path.dirname(packagePath)));
      if (missing.length === 0 && round > 1) return;
      for (const packagePath of missing) {
        taken.add(packagePath);
        yield* directory.kind === "data" ? this.#data(directory, packagePath) : this.#package(directory, packagePath);
      }
    }
  }

  async *#data(directory: UploadDirectory, packagePath: string): AsyncGenerator<Buffer> {
    const copy = await this.#sources.copyData(packagePath);
    try {
      yield* this.#package(directory, packagePath, copy?.folder);
    } finally {
      copy?.release();
    }
  }

  async *#package(
    directory: UploadDirectory,
    packagePath: string,
    folder = path.join(directory.path, packagePath),
  ): AsyncGenerator<Buffer> {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const tree = await treeOf(folder);
      if (!tree) return;
      this.#number += 1;
      const number = this.#number;
      const prefix = `${directory.kind}/${directory.index}/${number}`;
      const files = yield* takeFiles(folder, prefix, tree);
      if (files && (await treeOf(folder))?.fingerprint === tree.fingerprint) {
        const { pieces, sha256 } = document(`${prefix}.json`, {
          path: packagePath,
          folders: [...tree.folders],
          files,
        } satisfies PackageList);
        yield* pieces;
        this.#packages.push({ kind: directory.kind, directory: directory.index, number, path: packagePath, sha256 });
        for (const name of tree.skipped) this.#skipped.add(path.join(directory.path, packagePath, name));
        return;
      }
      await delay(pauseMs);
    }
    throw new BackupError("PACKAGE_CHANGING", `${folder} changed each time it was read; no backup was written`, {
      hint: "try again when fewer uploads are running",
    });
  }
}

/** Returns the content of a package folder, or undefined if the package was deleted. */
async function treeOf(folder: string): Promise<PackageTree | undefined> {
  for (let attempt = 1; attempt <= mostFolderReads; attempt += 1) {
    try {
      return await readPackageTree(folder);
    } catch (error) {
      if (!isGone(error)) throw error;
      await delay(pauseMs);
    }
  }
  return undefined;
}

/** Yields the files of a package as tar entries. Returns the list of files. Returns undefined if a file changed meanwhile. */
async function* takeFiles(folder: string, prefix: string, tree: PackageTree): AsyncGenerator<Buffer, PackageList["files"] | undefined> {
  const files: PackageList["files"] = [];
  for (const file of tree.files) {
    const sha256 = yield* fileEntry(`${prefix}/${file.path}`, path.join(folder, file.path), file);
    if (sha256 === undefined) return undefined;
    files.push({ path: file.path, mode: file.mode, sizeBytes: file.sizeBytes, sha256 });
  }
  return files;
}

/**
 * Yields a tar entry of `sizeBytes` bytes. Returns the SHA-256 digest of the file. Returns undefined if the file was replaced or truncated
 * meanwhile.
 */
async function* fileEntry(
  name: string,
  source: string,
  { mode, sizeBytes, inode }: Omit<TreeFile, "inode"> & { inode: bigint | undefined },
): AsyncGenerator<Buffer, string | undefined> {
  const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ignoreGone);
  if (!file) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    if ((inode !== undefined && stats.ino !== inode) || stats.size !== BigInt(sizeBytes)) return undefined;
    const hash = createHash("sha256");
    let leftBytes = sizeBytes;
    yield headerOf(name, mode, sizeBytes);
    while (leftBytes > 0) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(pieceBytes, leftBytes)));
      if (bytesRead === 0) break;
      leftBytes -= bytesRead;
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      yield piece;
    }
    const isWhole = leftBytes === 0;
    // Writes zeros in place of the missing bytes of a truncated file, because the tar header already contains the size.
    for (; leftBytes > 0; leftBytes -= pieceBytes) yield Buffer.alloc(Math.min(pieceBytes, leftBytes));
    yield paddingOf(sizeBytes);
    return isWhole ? hash.digest("hex") : undefined;
  } finally {
    await file.close();
  }
}

function document(name: string, content: object): { pieces: Buffer[]; sha256: string } {
  const bytes = Buffer.from(`${JSON.stringify(content)}\n`);
  return {
    pieces: [headerOf(name, 0o600, bytes.length), bytes, paddingOf(bytes.length)],
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}

function headerOf(name: string, mode: number, sizeBytes: number): Buffer {
  const entry = { path: name, type: "File", mode, uid: 0, gid: 0, size: sizeBytes, mtime: new Date(0) } as const;
  const block = Buffer.alloc(blockBytes);
  const needsMore = new Header(entry).encode(block, 0);
  return needsMore ? Buffer.concat([new Pax({ path: name, size: sizeBytes }).encode(), block]) : block;
}

function paddingOf(sizeBytes: number): Buffer {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}

async function statOf(source: string): Promise<{ size: number }> {
  const file = await open(source, "r");
  try {
    return await file.stat();
  } finally {
    await file.close();
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}

function ignoreGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}

interface TreeFile {
  /** Path of the file in its package. */
  readonly path: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly inode: bigint;
}

/** The content of a package folder at one time. */
interface PackageTree {
  readonly files: readonly TreeFile[];
  readonly folders: readonly string[];
  /** Links, sockets and similar entries, and entries whose name an archive cannot contain. */
  readonly skipped: readonly string[];
  /** A text that differs after a file in the folder was written, replaced or moved. */
  readonly fingerprint: string;
}

/** Reads the list of entries in a package folder. Throws ENOENT if the folder is missing, or if an entry is deleted during the read. */
async function readPackageTree(root: string): Promise<PackageTree> {
  const tree = { files: [] as TreeFile[], folders: [] as string[], skipped: [] as string[], marks: [] as string[] };
  const visit = async (folder: string): Promise<void> => {
    tree.marks.push(markOf(folder, await lstat(path.join(root, folder), { bigint: true })));
    for (const { name } of await readdir(path.join(root, folder), { withFileTypes: true })) {
      const below = folder === "" ? name : `${folder}/${name}`;
      const stats = await lstat(path.join(root, below), { bigint: true });
      if (!isStorable(below) || !(stats.isFile() || stats.isDirectory())) tree.skipped.push(below);
      else if (stats.isDirectory()) {
        tree.folders.push(below);
        await visit(below);
      } else {
        tree.files.push({ path: below, mode: Number(stats.mode) & 0o777, sizeBytes: Number(stats.size), inode: stats.ino });
        tree.marks.push(markOf(below, stats));
      }
    }
  };
  await visit("");
  return { ...tree, fingerprint: tree.marks.toSorted().join("\n") };
}

function markOf(name: string, stats: BigIntStats): string {
  return `${JSON.stringify(name)} ${stats.dev} ${stats.ino} ${stats.mode} ${stats.size} ${stats.ctimeNs}`;
}

/** Returns whether a restore accepts a path in a package. */
function isStorable(name: string): boolean {
  try {
    return entrySegments(longestPrefix + name, "file").length > 0;
  } catch {
    return false;
  }
}
