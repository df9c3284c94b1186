import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { countKeys } from "../access/key-database.js";
import type { PackageChange, RestoredBackup } from "../../shared/backup-program.js";
import type { Environment } from "../config/config-variables.js";
import type { Directories } from "../config/directories.js";
import { exists } from "../packages/transactions/journal.js";
import { NewerStateError } from "../config/newer-state-error.js";
import { BackupError, firstVersionWithData, invalidBackup, newerKeyStore, type Manifest } from "./backup-format.js";
import { giveTo, makeLikeParent } from "./give-to.js";
import { nextMode } from "./key-store-modes.js";
import { lockState } from "./lock-state.js";
import { findPackages, uploadDirectories, type UploadDirectory } from "./upload-directories.js";
import { decideRestore, finishRestore, pendingRestoreName, type PendingRestore } from "./pending-restore.js";
import { readBackup, type BackupSink } from "./read-backup.js";
import { directoryMissing, StagedRestore } from "./staged-restore.js";

/** Files in the state directory that a restore replaces: the key store with the files of SQLite, and the cached worker catalog. */
const replacedStateFiles = ["keys.db", "keys.db-wal", "keys.db-shm", "keys.db-journal", "known-workers.json"];

export interface RestoreOptions {
  readonly directories: Directories;
  /** Environment variables of the command. RUNTIME_AUTH_DB_MODE has priority over the mode of the daemon's last start. */
  readonly environment: Environment;
  readonly file: string;
  /** True if the restore replaces only the data folders of workers. */
  readonly isDataOnly: boolean;
  readonly isDryRun: boolean;
  /** True if the restore deletes the previous content instead of keeping it. */
  readonly discardOld: boolean;
}

/**
 * Replaces keys, uploaded packages and data folders by the content of a backup, completely or not at all. Throws DAEMON_RUNNING while a
 * daemon runs, and PRIMARY_HAS_KEYS for a daemon with a primary. A dry run changes nothing, and is possible while a daemon runs.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoredBackup> {
  const { directories } = options;
  assertKeysInState(options);
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

/**
 * Throws PRIMARY_HAS_KEYS if the next start of the daemon would use the keys of a primary, and its list of packages, instead of those of
 * the backup.
 */
function assertKeysInState({ directories: { stateDirectory }, environment, isDataOnly }: RestoreOptions): void {
  if (isDataOnly || nextMode(stateDirectory, environment) === "local") return;
  throw new BackupError(
    "PRIMARY_HAS_KEYS",
    `the daemon of ${stateDirectory} has its keys in a primary (RUNTIME_AUTH_DB_MODE=sync), and does not use restored keys; nothing was changed`,
    {
      hint:
        "restore the primary and the registry with their own tools, and the data folders of workers with --data-only; " +
        "for a daemon that no longer uses the primary, set RUNTIME_AUTH_DB_MODE=local",
    },
  );
}

/** Reads and checks a backup. Returns the changes that a restore would make. */
async function previewRestore(options: RestoreOptions): Promise<RestoredBackup> {
  const { directories, file, isDataOnly } = options;
  const folder = await mkdtemp(path.join(tmpdir(), "runtimectl-restore-"));
  try {
    const keyStore = path.join(folder, "keys.db");
    const manifest = await readBackup(file, new DryRunSink(keyStore));
    const targets = replacedDirectories(manifest, options);
    for (const { kind, directory: index } of manifest.packages) {
      const isMissing = !targets.some((each) => each.kind === kind && each.index === index);
      if (isMissing && isRestored({ kind }, options)) throw directoryMissing({ kind, index });
    }
    const finishedEarlier = exists(path.join(directories.stateDirectory, pendingRestoreName));
    return { ...(await describe(manifest, { file, keyStore, directories, targets })), dataOnly: isDataOnly, kept: [], finishedEarlier };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function restore(options: RestoreOptions): Promise<RestoredBackup> {
  const { directories, file, isDataOnly, discardOld } = options;
  const { stateDirectory } = directories;
  const finishedEarlier = await finishRestore(stateDirectory);
  const staged = new StagedRestore({
    stateDirectory,
    directories: uploadDirectories(directories).filter((each) => isRestored(each, options)),
    isDataOnly,
  });
  try {
    await staged.open();
    const manifest = await readBackup(file, staged);
    const targets = replacedDirectories(manifest, options);
    const described = await describe(manifest, { file, keyStore: staged.keyStoreFile, directories, targets });
    const { pending, kept } = await plan(staged, targets, options);
    await decideRestore(stateDirectory, pending);
    await finishRestore(stateDirectory);
    return { ...described, dataOnly: isDataOnly, kept: discardOld ? [] : kept, finishedEarlier };
  } finally {
    // Keeps the prepared files if the restore is decided but not complete, because the next start of the daemon completes the restore.
    if (!exists(path.join(stateDirectory, pendingRestoreName))) await staged.discard();
    staged.unlock();
  }
}

function isRestored({ kind }: Pick<UploadDirectory, "kind">, { isDataOnly }: RestoreOptions): boolean {
  return kind === "data" || !isDataOnly;
}

/**
 * Returns the directories whose content a restore replaces. If a backup contains no data folders, the data folders of this machine stay
 * unchanged. Throws INVALID_BACKUP if nothing remains to be restored.
 */
function replacedDirectories({ version }: Manifest, options: RestoreOptions): UploadDirectory[] {
  const targets = uploadDirectories(options.directories).filter((each) => isRestored(each, options));
  if (version >= firstVersionWithData) return targets;
  if (!options.isDataOnly) return targets.filter(({ kind }) => kind !== "data");
  throw new BackupError(
    "INVALID_BACKUP",
    `${options.file} contains no data folders, because an earlier version wrote it; nothing was changed`,
  );
}

async function plan(
  staged: StagedRestore,
  targets: readonly UploadDirectory[],
  { directories: { stateDirectory }, isDataOnly, discardOld }: RestoreOptions,
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
  if (isDataOnly) discarded.push(staged.keyStoreFile);
  else {
    const aside = path.join(stateDirectory, suffix);
    const oldState = replacedStateFiles.filter((name) => existsSync(path.join(stateDirectory, name)));
    if (oldState.length > 0) folders.push(aside);
    for (const name of oldState) moves.push({ from: path.join(stateDirectory, name), to: path.join(aside, name) });
    moves.push({ from: staged.keyStoreFile, to: path.join(stateDirectory, "keys.db") });
  }
  return { pending: { folders, moves, discarded: [...discarded, ...(discardOld ? folders : [])] }, kept: folders };
}

async function describe(
  manifest: Manifest,
  places: { file: string; keyStore: string; directories: Directories; targets: readonly UploadDirectory[] },
): Promise<Omit<RestoredBackup, "dataOnly" | "kept" | "finishedEarlier">> {
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
