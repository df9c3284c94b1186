import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import type { MigratedPackages, PackageStoreKind } from "../../shared/backup-program.js";
import { installationFileName } from "../../shared/installation-file-name.js";
import { LocalKeyStore } from "../access/local-key-store.js";
import { ReplicatedKeyStore } from "../access/replica/replicated-key-store.js";
import type { KeyStore } from "../access/key-store.js";
import { readArchiveLimits } from "../config/config.js";
import type { Directories } from "../config/directories.js";
import { NewerStateError } from "../config/newer-state-error.js";
import { valueOf } from "../config/config-variables.js";
import { readPackageSource, type PackageSource } from "../config/package-source.js";
import { readPrimary, type PrimarySource } from "../config/primary-source.js";
import { createLog, type Log } from "../log/log.js";
import { localPlugins, localVersions, type LocalPackage } from "../package-store/local-packages.js";
import { openOciStores } from "../package-store/oci-stores.js";
import { outageOf, PackageMigration, type Migrated, type Outage } from "../package-store/package-migration.js";
import { installDirectory } from "../packages/package-directories.js";
import { PackageTools } from "../packages/package-tools.js";
import { digestOfFolder } from "../packages/stored-folders.js";
import { DirectoryInUseError, DirectoryLock, deleteSharingFiles, lockPaths } from "../packages/transactions/directory-lock.js";
import { InstallAreas } from "../packages/transactions/install-areas.js";
import { OciBlobStore } from "../registry/oci-blob-store.js";
import { RegistryClient } from "../registry/registry-client.js";
import { RegistryError } from "../registry/registry-error.js";
import { BackupError, newerKeyStore } from "./backup-format.js";
import { giveTo } from "./give-to.js";
import { lockState } from "./lock-state.js";
import { uploadDirectories, type UploadDirectory } from "./upload-directories.js";
import { finishRestore } from "./pending-restore.js";

type Environment = Readonly<Record<string, string | undefined>>;

interface MigrateOptions {
  readonly target: PackageStoreKind;
  readonly isDryRun: boolean;
}

const none: Migrated = { moved: [], present: [], local: [] };

/**
 * If `target` is `oci`, moves the packages of a stopped daemon to the package store. If no package remains, deletes the files with which
 * earlier versions shared directories, because these prevent a start with a primary. Throws DAEMON_RUNNING.
 */
export async function migratePackages(
  directories: Directories,
  environment: Environment,
  { target, isDryRun }: MigrateOptions,
): Promise<MigratedPackages> {
  const { stateDirectory } = directories;
  const source = target === "oci" ? readSources(environment) : undefined;
  if (!existsSync(stateDirectory) || (source && !source.primary && !existsSync(path.join(stateDirectory, "keys.db"))))
    throw new BackupError("STATE_NOT_FOUND", `there is no local key store in ${stateDirectory}; nothing was changed`, {
      hint: "set the daemon's state directory with --state-dir or --service, and its libSQL server with --primary",
    });
  const places = uploadDirectories(directories).filter(({ kind, path: directory }) => kind !== "data" && existsSync(directory));
  const paths = places.map((place) => place.path);
  const lock = lockState(stateDirectory);
  try {
    if (!source || isDryRun) {
      const migrated = await whileLocked(paths, async () => {
        if (!isDryRun) deleteSharingFiles(paths);
        return source ? await plan(source, places) : none;
      });
      return report(migrated, source);
    }
    await finishRestore(stateDirectory);
    return report(await move(source, places, stateDirectory), source);
  } catch (error) {
    throw explained(error);
  } finally {
    lock.release();
    await giveStateTo(stateDirectory);
    for (const directory of paths) await giveTo(directory, lockPaths(directory).filter(existsSync));
  }
}

function report({ moved, present, local }: Migrated, source: Sources | undefined): MigratedPackages {
  const count = (kind: LocalPackage["kind"]) => moved.filter((each) => each.kind === kind).length;
  return {
    store: source ? `oci:${source.packages.origin}/${source.packages.repository}` : "directory",
    workers: count("worker"),
    plugins: count("plugin"),
    present: present.length,
    local: local.map(({ kind, name, version, folder, problem = "" }) => ({ kind, name, version, folder, reason: problem })),
  };
}

async function whileLocked<Result>(paths: readonly string[], work: () => Promise<Result>): Promise<Result> {
  const locks: DirectoryLock[] = [];
  try {
    for (const directory of paths) {
      const lock = DirectoryLock.take(directory);
      if (!lock) throw new DirectoryInUseError(directory);
      locks.push(lock);
    }
    return await work();
  } finally {
    for (const lock of locks) lock.release();
  }
}

interface Sources {
  readonly packages: PackageSource;
  readonly primary: PrimarySource | undefined;
  readonly limits: ReturnType<typeof readArchiveLimits>;
}

function readSources(environment: Environment): Sources {
  const value = (name: string) => valueOf(environment, name);
  const packages = readPackageSource(environment, value);
  if (packages) return { packages, primary: readPrimary(environment, value), limits: readArchiveLimits(environment) };
  throw new BackupError("SETTING_NOT_VALID", "RUNTIME_PACKAGE_STORE names no registry; nothing was changed", {
    hint: "set --store oci:https://HOST/REPOSITORY, or --to directory to keep the packages in the directories of this machine",
  });
}

/** Returns all packages of the directories. `installDirectories` contains the directory in which the daemon installs each kind. */
function findAll(places: readonly UploadDirectory[], installDirectories: Readonly<Record<string, string | undefined>>) {
  return {
    versions: pathsOf(places, "workers").flatMap((directory) => localVersions(directory, installDirectories["workers"])),
    plugins: pathsOf(places, "plugins").flatMap((directory) => localPlugins(directory, installDirectories["plugins"])),
  };
}

function pathsOf(places: readonly UploadDirectory[], kind: UploadDirectory["kind"]): string[] {
  return places.filter((place) => place.kind === kind).map((place) => place.path);
}

function isPresent({ folder }: LocalPackage): boolean {
  return digestOfFolder(folder) !== undefined;
}

/** Returns the result that a migration would have. Does not read the index. */
async function plan({ packages }: Sources, places: readonly UploadDirectory[]): Promise<Migrated> {
  const blobs = new OciBlobStore(await RegistryClient.at(packages));
  try {
    // Checks whether the registry accepts the credential, by a request for a blob that does not exist.
    await blobs.has(`sha256:${"0".repeat(64)}`);
  } finally {
    await blobs.close();
  }
  const { versions, plugins } = findAll(places, {
    workers: await installDirectory(pathsOf(places, "workers")),
    plugins: await installDirectory(pathsOf(places, "plugins")),
  });
  const [movable, local] = [true, false].map((isMovable) =>
    [...versions, ...plugins].filter(({ problem }) => (problem === undefined) === isMovable),
  ) as [LocalPackage[], LocalPackage[]];
  return { moved: movable.filter((each) => !isPresent(each)), present: movable.filter(isPresent), local };
}

async function move(source: Sources, places: readonly UploadDirectory[], stateDirectory: string): Promise<Migrated> {
  const log = createLog({ level: "silent" });
  const tools = new PackageTools(source.limits);
  const openAreas = (kind: UploadDirectory["kind"]) => {
    const directories = pathsOf(places, kind).map((each) => ({ path: each, source: "uploaded" as const }));
    return InstallAreas.open({ directories, remover: tools.remover, log });
  };
  const [workerAreas, pluginAreas] = [await openAreas("workers"), await openAreas("plugins")];
  const store = await openStore(source, stateDirectory, log);
  const { records, leases } = store;
  const stores = await openOciStores({ source: source.packages, records, leases, isShared: source.primary !== undefined, log });
  const migration = new PackageMigration({ ...stores, tools });
  try {
    const { problem } = store.readState();
    if (problem !== undefined) throw new BackupError("PRIMARY_UNAVAILABLE", `${problem}; nothing was changed`);
    const [workerArea, pluginArea] = [await workerAreas.forInstalling(), await pluginAreas.forInstalling()];
    const { versions, plugins } = findAll(places, { workers: workerArea?.directory, plugins: pluginArea?.directory });
    const parts = [
      workerArea ? await migration.moveVersions(workerArea, versions) : none,
      pluginArea ? await migration.movePlugins(pluginArea, plugins) : none,
    ];
    for (const { folder } of [...versions, ...plugins]) await giveTo(folder, [path.join(folder, installationFileName)].filter(existsSync));
    const migrated = {
      moved: parts.flatMap(({ moved }) => moved),
      present: parts.flatMap(({ present }) => present),
      local: parts.flatMap(({ local }) => local),
    };
    if (migrated.local.length === 0) deleteSharingFiles(places.map((place) => place.path));
    return migrated;
  } finally {
    stores.collector.close();
    await stores.archives.close();
    await Promise.all([workerAreas.close(), pluginAreas.close()]);
    await tools.close();
    await store.close();
  }
}

async function openStore({ primary }: Sources, stateDirectory: string, log: Log): Promise<KeyStore> {
  if (!primary) return new LocalKeyStore({ stateDirectory, log });
  return await ReplicatedKeyStore.open({
    source: primary,
    stateDirectory,
    instance: { id: randomUUID(), name: "migrate-packages", run: randomUUID() },
    onForeignChange: () => undefined,
    onDivergence: () => undefined,
    log,
  });
}

/** Gives the files that this program created in the state directory to the daemon's user. */
async function giveStateTo(stateDirectory: string): Promise<void> {
  const files = (await readdir(stateDirectory)).filter((name) => name.includes(".db") || name === "replica");
  const replica = await readdir(path.join(stateDirectory, "replica"), { recursive: true }).catch(() => []);
  const all = [...files, ...replica.map((name) => path.join("replica", name))].map((name) => path.join(stateDirectory, name));
  await giveTo(stateDirectory, all.filter(existsSync));
}

/**
 * Error codes of a backup, by the error code of the outage that causes them. The packages that were moved before the outage stay in the
 * store.
 */
const outages: Readonly<Record<Outage, BackupError["code"]>> = {
  PACKAGE_STORE_UNAVAILABLE: "REGISTRY_UNAVAILABLE",
  KEY_STORE_UNAVAILABLE: "PRIMARY_UNAVAILABLE",
  INDEX_DIVERGED: "PRIMARY_UNAVAILABLE",
  CHANGE_CONFLICT: "PACKAGE_CHANGING",
  INSUFFICIENT_STORAGE: "INSUFFICIENT_STORAGE",
  STORAGE_NOT_WRITABLE: "NOT_WRITTEN",
};

function explained(error: unknown): unknown {
  const hint = "remove the cause and run the command again: it continues with the packages that are not in the store yet";
  if (error instanceof DirectoryInUseError)
    return new BackupError("DAEMON_RUNNING", "a runtimed with another state directory uses a package directory; nothing was changed", {
      cause: error,
      hint: "first stop all daemons that use the directory",
    });
  if (error instanceof RegistryError)
    return new BackupError("REGISTRY_UNAVAILABLE", `the registry ${error.message}`, { cause: error, hint });
  if (error instanceof NewerStateError) return newerKeyStore(error, "no package was moved");
  const outage = outageOf(error);
  return outage === undefined
    ? error
    : new BackupError(outages[outage], (error as Error).message.replace(/\.$/, ""), { cause: error, hint });
}
