import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { countKeys } from "../access/key-database.js";
import type { PackageChange, RestoredBackup } from "../../shared/backup-program.js";
import type { Directories } from "../config/directories.js";
import { exists } from "../packages/transactions/journal.js";
import { NewerStateError } from "../config/newer-state-error.js";
import { firstVersionWithData, invalidBackup, newerKeyStore, type Manifest } from "./backup-format.js";
import { giveTo, makeLikeParent } from "./give-to.js";
import { lockState } from "./lock-state.js";
import { findPackages, uploadDirectories, type UploadDirectory } from "./upload-directories.js";
import { decideRestore, finishRestore, pendingRestoreName, type PendingRestore } from "./pending-restore.js";
import { readBackup, type BackupSink } from "./read-backup.js";
import { directoryMissing, StagedRestore } from "./staged-restore.js";

/** Files in the state directory that a restore replaces: the key store with the files of SQLite, and the cached worker catalog. */
const replacedStateFiles = ["keys.db", "keys.db-wal", "keys.db-shm", "keys.db-journal", "known-workers.json"];

export interface RestoreOptions {
  readonly directories: Directories;
  readonly file: string;
  readonly isDryRun: boolean;
  /** True if the restore deletes the previous content instead of keeping it. */
  readonly discardOld: boolean;
}

/**
 * Replaces keys, uploaded packages and data folders by the content of a backup, completely or not at all. Throws DAEMON_RUNNING while a
 * daemon runs. A dry run changes nothing, and is possible while a daemon runs.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoredBackup> {
  const { directories } = options;
  if (options.isDryRun) return previewRestore(options);
  const isNew = !exists(path.join(directories.stateDirectory, "lock.db"));
  if (isNew) await makeLikeParent(directories.stateDirectory, 0o700);
  const lock = lockState(directories.stateDirectory);
  try {
    if (isNew) await giveTo(directories.stateDirectory, [path.join(directories.stateDirectory, "lock.db")]);
    return await restore(options);
  } finally {
    lock.release();
  }
}

/** Reads and checks a backup. Returns the changes that a restore would make. */
async function previewRestore({ directories, file }: RestoreOptions): Promise<RestoredBackup> {
  const folder = await mkdtemp(path.join(tmpdir(), "runtimectl-restore-"));
  try {
    const keyStore = path.join(folder, "keys.db");
    const manifest = await readBackup(file, new DryRunSink(keyStore));
    const targets = uploadDirectories(directories).filter((each) => isReplaced(each, manifest));
    for (const { kind, directory: index } of manifest.packages)
      if (!targets.some((each) => each.kind === kind && each.index === index)) throw directoryMissing({ kind, index });
    const finishedEarlier = exists(path.join(directories.stateDirectory, pendingRestoreName));
    return { ...(await describe(manifest, { file, keyStore, directories, targets })), kept: [], finishedEarlier };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function restore({ directories, file, discardOld }: RestoreOptions): Promise<RestoredBackup> {
  const { stateDirectory } = directories;
  const finishedEarlier = await finishRestore(stateDirectory);
  const targets = uploadDirectories(directories);
  const staged = new StagedRestore({ stateDirectory, directories: targets });
  try {
    await staged.open();
    const manifest = await readBackup(file, staged);
    const replaced = targets.filter((each) => isReplaced(each, manifest));
    const described = await describe(manifest, { file, keyStore: staged.keyStoreFile, directories, targets: replaced });
    const { pending, kept } = await plan(staged, { stateDirectory, targets: replaced, discardOld });
    await decideRestore(stateDirectory, pending);
    await finishRestore(stateDirectory);
    return { ...described, kept: discardOld ? [] : kept, finishedEarlier };
  } finally {
    // Keeps the prepared files if the restore is decided but not complete, because the next start of the daemon completes the restore.
    if (!exists(path.join(stateDirectory, pendingRestoreName))) await staged.discard();
    staged.unlock();
  }
}

/**
 * Returns whether a restore replaces the content of a directory. If a backup contains no data folders, the data folders of this machine
 * stay unchanged.
 */
function isReplaced({ kind }: UploadDirectory, { version }: Manifest): boolean {
  return kind !== "data" || version >= firstVersionWithData;
}

async function plan(
  staged: StagedRestore,
  { stateDirectory, targets, discardOld }: { stateDirectory: string; targets: readonly UploadDirectory[]; discardOld: boolean },
): Promise<{ pending: PendingRestore; kept: string[] }> {
  const suffix = `before-restore-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  const folders: string[] = [];
  const moves: { from: string; to: string }[] = [];
  const discarded: string[] = [];
  for (const { path: directory } of targets) {
    const aside = path.join(directory, `.${suffix}`);
    const old = (await readdir(directory)).filter((name) => !name.startsWith("."));
    if (old.length > 0) folders.push(aside);
    for (const name of old) moves.push({ from: path.join(directory, name), to: path.join(aside, name) });
    for (const name of await staged.content(directory))
      moves.push({ from: path.join(staged.stageOf(directory), "content", name), to: path.join(directory, name) });
    discarded.push(staged.stageOf(directory));
  }
  const aside = path.join(stateDirectory, suffix);
  const oldState = replacedStateFiles.filter((name) => existsSync(path.join(stateDirectory, name)));
  if (oldState.length > 0) folders.push(aside);
  for (const name of oldState) moves.push({ from: path.join(stateDirectory, name), to: path.join(aside, name) });
  moves.push({ from: staged.keyStoreFile, to: path.join(stateDirectory, "keys.db") });
  return { pending: { folders, moves, discarded: [...discarded, ...(discardOld ? folders : [])] }, kept: folders };
}

async function describe(
  manifest: Manifest,
  places: { file: string; keyStore: string; directories: Directories; targets: readonly UploadDirectory[] },
): Promise<Omit<RestoredBackup, "kept" | "finishedEarlier">> {
  const packages: PackageChange[] = [];
  for (const target of places.targets) {
    const here = new Set((await findPackages(target)).packages);
    const coming = manifest.packages.filter(({ kind, directory }) => kind === target.kind && directory === target.index);
    const comingPaths = new Set(coming.map((each) => each.path));
    for (const place of comingPaths) packages.push({ kind: target.kind, path: place, change: here.has(place) ? "replace" : "add" });
    for (const place of here) if (!comingPaths.has(place)) packages.push({ kind: target.kind, path: place, change: "remove" });
  }
  return {
    createdAt: manifest.createdAt,
    keys: keysOfBackup(places.file, places.keyStore),
    keysBefore: await keysHere(places.directories.stateDirectory),
    packages,
  };
}

function keysOfBackup(file: string, keyStore: string): number {
  try {
    return countKeys(keyStore);
  } catch (cause) {
    if (cause instanceof NewerStateError) throw newerKeyStore(cause, "nothing was changed", `The key store in ${file}`);
    throw invalidBackup(file, `its key store cannot be used (${(cause as Error).message})`, cause);
  }
}

/**
 * Returns the number of keys in the current key store. Returns null if the store is not readable. Reads a copy, because SQLite creates
 * files next to each database that it opens.
 */
async function keysHere(stateDirectory: string): Promise<number | null> {
  const folder = await mkdtemp(path.join(tmpdir(), "runtimectl-keys-"));
  try {
    for (const name of ["keys.db", "keys.db-wal"])
      if (existsSync(path.join(stateDirectory, name))) await copyFile(path.join(stateDirectory, name), path.join(folder, name));
    return countKeys(path.join(folder, "keys.db"));
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Sink of a dry run. Reads the complete backup for all checks, but writes only the key store. */
class DryRunSink implements BackupSink {
  readonly #keyStore: string;

  constructor(keyStore: string) {
    this.#keyStore = keyStore;
  }

  async keyStore(content: AsyncIterable<Buffer>): Promise<void> {
    await writeFile(this.#keyStore, content, { mode: 0o600, flag: "wx" });
  }

  async file(_at: unknown, _segments: unknown, content: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of content) void piece;
  }

  async package(): Promise<void> {}

  async discardUnlisted(): Promise<void> {}
}
