import { createWriteStream, existsSync, rmSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { copyKeyDatabase } from "../access/key-database.js";
import { copyReplica } from "../access/replica/copy-replica.js";
import type { Directories } from "../config/directories.js";
import { packageRoot, packageVersion } from "../package-root.js";
import { syncFolder } from "../packages/transactions/journal.js";
import type { WrittenBackup } from "../../shared/backup-program.js";
import { NewerStateError } from "../config/newer-state-error.js";
import { BackupError, newerKeyStore, formatName, formatVersion, type PackageKind } from "./backup-format.js";
import { copyDataFolder } from "./data-copies.js";
import { directoriesHint } from "./directories-hint.js";
import { BackupPieces } from "./backup-stream.js";
import { uploadDirectories } from "./upload-directories.js";

/**
 * Writes a backup, even while the daemon runs. Only the owner can read the file. An existing file stays until the new backup is complete.
 */
export async function writeBackup(directories: Directories, file: string): Promise<WrittenBackup> {
  const local = path.join(directories.stateDirectory, "keys.db");
  const replica = path.join(directories.stateDirectory, "replica", "current", "keys.db");
  // Reads the replica if the keys were migrated to a primary, because the local key store then has no keys.
  const isReplicated = !existsSync(local) && existsSync(replica);
  const keyStore = isReplicated ? replica : local;
  if (!existsSync(keyStore))
    throw new BackupError("STATE_NOT_FOUND", `there is no key store in ${directories.stateDirectory}; no backup was written`, {
      hint: directoriesHint(packageRoot),
    });
  const unfinished = `${file}.unfinished-${process.pid}`;
  await removeLeftovers(file);
  await mkdir(unfinished, { mode: 0o700 }).catch((error: unknown) => {
    throw notWritten(file, error);
  });
  process.once("exit", () => rmSync(unfinished, { recursive: true, force: true }));
  const archive = path.join(unfinished, "archive");
  const copy = path.join(unfinished, "keys.db");
  const copyKeys = async () => (isReplicated ? copyReplica(replica, copy) : copyKeyDatabase(local, copy));
  const keys = await copyKeys().catch((cause: unknown) => {
    if (cause instanceof NewerStateError) throw newerKeyStore(cause, "no backup was written");
    throw new BackupError("KEY_STORE_DAMAGED", `${keyStore} cannot be copied (${(cause as Error).message}); no backup was written`, {
      cause,
    });
  });
  const createdAt = new Date().toISOString();
  const pieces = new BackupPieces({
    format: { format: formatName, version: formatVersion, createdAt, runtimectl: packageVersion },
    keyStore: { file: copy, keys },
    directories: uploadDirectories(directories),
    copyData: (name) => copyDataFolder(directories.stateDirectory, name),
  });
  // Uses the option `flush` to sync the file before the rename.
  await pipeline(Readable.from(pieces.all()), createGzip(), createWriteStream(archive, { flags: "wx", mode: 0o600, flush: true }));
  const { size: sizeBytes } = await stat(archive);
  await rename(archive, file).catch((error: unknown) => {
    throw notWritten(file, error);
  });
  await syncFolder(path.dirname(file));
  await rm(unfinished, { recursive: true });
  const count = (kind: PackageKind) => pieces.packages.filter((each) => each.kind === kind).length;
  return {
    file,
    createdAt,
    sizeBytes,
    keys,
    workers: count("workers"),
    plugins: count("plugins"),
    data: count("data"),
    skipped: pieces.skipped,
  };
}

/** Deletes the files of an interrupted backup with the same name. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = path.dirname(file);
  const prefix = `${path.basename(file)}.unfinished-`;
  for (const name of await readdir(folder).catch(() => [])) {
    const isLeftover = name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)) && !isRunning(Number(name.slice(prefix.length)));
    if (isLeftover) await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function notWritten(file: string, error: unknown): BackupError {
  return new BackupError("NOT_WRITTEN", `${file} cannot be written (${(error as NodeJS.ErrnoException).code})`, {
    hint: "choose another file",
  });
}
