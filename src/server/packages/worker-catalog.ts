import path from "node:path";
import type { Worker } from "../../shared/contract/workers.js";
import type { Log } from "../log/log.js";
import type { FolderCheck } from "./catalog-poll.js";
import { newestFirst, VersionChoice, type InstalledVersion } from "./worker-version.js";
import type { CatalogCache } from "./catalog-cache.js";
import type { StoredVersion } from "./package-store.js";
import { withStoredVersions, type ParsedManifests } from "./stored-folders.js";
import type { PackageDirectory } from "./package-directories.js";
import {
  fingerprint,
  hasChanged,
  listFolders,
  readWorkerFolder,
  watchableFolders,
  type FoundVersion,
  type WorkerFolder,
} from "./worker-folders.js";

/**
 * An installed version of a worker. `directory` is the path of the package directory, and `workerFolder` is the path of the worker folder
 * in this directory.
 */
export interface CatalogedVersion extends InstalledVersion {
  readonly directory: string;
  readonly workerFolder: string;
  readonly identity: string;
  readonly isLocal?: boolean;
}

interface CatalogedWorker {
  /** The versions of the worker by version name. Of several folders with the same version, contains the folder that has precedence. */
  readonly versions: ReadonlyMap<string, CatalogedVersion>;
  /**
   * All folders with a version of the worker, including folders that are not used because another folder with the same version has
   * precedence.
   */
  readonly found: readonly CatalogedVersion[];
  readonly choice: VersionChoice;
}

/** The worker folders that the daemon found at its last read of a package directory or of a scope folder, such as `@team`. */
interface Listing {
  readonly directory: string;
  readonly fingerprint: string;
  readonly folders: ReadonlySet<string>;
}

/**
 * The installed workers, in memory. Reads folders synchronously, so that a replaced folder is known in the same turn of the event loop. For
 * one version, the earliest directory has precedence, then the folder `<name>/<version>`.
 */
export class WorkerCatalog {
  readonly #directories: readonly PackageDirectory[];
  readonly #reservedNames: ReadonlySet<string>;
  readonly #known: CatalogCache;
  readonly #log: Log;
  readonly #onActiveVersion: ((name: string, version: InstalledVersion | undefined) => void) | undefined;
  readonly #stored: ConstructorParameters<typeof WorkerCatalog>[0]["stored"];
  readonly #listings = new Map<string, Listing>();
  readonly #folders = new Map<string, { readonly read: WorkerFolder; readonly versions: readonly CatalogedVersion[] }>();
  readonly #workers = new Map<string, CatalogedWorker>();
  readonly #foldersOfName = new Map<string, Set<string>>();
  readonly #parsedManifests: ParsedManifests = new Map();
  #generations = 0;
  /** Cached result of `list`. Undefined after a change. */
  #listed: Worker[] | undefined;

  constructor(options: {
    directories: readonly PackageDirectory[];
    reservedNames: ReadonlySet<string>;
    known: CatalogCache;
    /** Called when the active version of a worker has possibly changed. `version` is undefined if the worker has no active version. */
    onActiveVersion?: ((name: string, version: InstalledVersion | undefined) => void) | undefined;
    /** The versions of the package store by worker name, and the directory in which the daemon installs them. */
    stored?: { readonly directory: string; readonly versionsOf: (name: string) => readonly StoredVersion[] } | undefined;
    log: Log;
  }) {
    this.#stored = options.stored;
    this.#directories = options.directories;
    this.#reservedNames = options.reservedNames;
    this.#known = options.known;
    this.#log = options.log;
    this.#onActiveVersion = options.onActiveVersion;
  }

  resolve(name: string, range: string | undefined): InstalledVersion | undefined {
    const choice = this.#workers.get(name)?.choice;
    return range === undefined ? choice?.preferred : choice?.pick(range);
  }

  /**
   * Returns the versions of the worker by version name, with the folder that has precedence. Returns undefined if the worker is not
   * installed.
   */
  versions(name: string): ReadonlyMap<string, CatalogedVersion> | undefined {
    return this.#workers.get(name)?.versions;
  }

  /** Returns `enabled` in the manifest of a version folder. The index of the package store can have another value. */
  enabledOnDisk(workerFolder: string, folder: string): boolean | undefined {
    return this.#folders.get(workerFolder)?.read.versions.find((version) => version.folder === folder)?.enabled;
  }

  names(): string[] {
    return [...this.#workers.keys()];
  }

  /** Returns all folders with a version of the worker. Includes folders without precedence. */
  found(name: string): readonly CatalogedVersion[] {
    return this.#workers.get(name)?.found ?? [];
  }

  /** Returns all versions in a worker folder. Includes a version whose metadata contains the name of another worker. */
  versionsIn(workerFolder: string): readonly CatalogedVersion[] {
    return this.#folders.get(workerFolder)?.versions ?? [];
  }

  /**
   * Returns the workers, sorted by name. A worker with built-in and uploaded versions has two items, so that `removable` applies to all
   * versions of an item. The list is frozen and cached until the next change.
   */
  list(): Worker[] {
    this.#listed ??= Object.freeze(this.#listItems()) as Worker[];
    return this.#listed;
  }

  #listItems(): Worker[] {
    const workers: Worker[] = [];
    for (const name of [...this.#workers.keys()].toSorted()) {
      for (const source of ["built-in", "uploaded"] as const) {
        const all = [...(this.#workers.get(name)?.versions.values() ?? [])].filter((version) => version.source === source);
        const [first] = all;
        if (first) workers.push(listItem(first, all));
      }
    }
    return workers;
  }

  /** Reads all directories and finds new and deleted worker folders. Returns the folders of versions that were changed or deleted. */
  scan(): string[] {
    return this.#directories.flatMap(({ path: directory }) => this.#list(directory, directory));
  }

  /**
   * Reads a worker folder again. Returns the folders of versions that were changed or deleted. `isChanged` returns true for a version
   * folder with changed files, even if its metadata is the same.
   */
  refresh(directory: string, workerFolder: string, isChanged: (folder: string) => boolean = isNever): string[] {
    const before = this.versionsIn(workerFolder);
    const known = this.#folders.get(workerFolder)?.read ?? this.#known.recall(workerFolder);
    const read = readWorkerFolder(directory, workerFolder, known);
    this.#known.note(read);
    const found = this.#stored?.directory === directory ? this.#withStored(read) : read.versions;
    const after = found.map((version) => this.#catalog(read, version, isChanged(version.folder) ? [] : before));
    this.#folders.set(workerFolder, { read, versions: after });
    const names = new Set([...before, ...after].map(({ name }) => name));
    for (const name of names) this.#index(name, workerFolder, after);
    const removed = before.filter((version) => !after.includes(version)).map(({ folder }) => folder);
    return removed;
  }

  /**
   * Yields a check for each directory and each worker folder. A change needs a second check: if an operator replaces a folder, the folder
   * is missing for a short time.
   */
  *folderChecks(): Generator<FolderCheck> {
    for (const { path: directory } of this.#directories) yield this.#checkOfListing(directory, directory);
    for (const [container, { directory }] of this.#listings) {
      if (container !== directory) yield this.#checkOfListing(directory, container);
    }
    for (const folder of this.#folders.keys()) yield this.#checkOfFolder(folder);
  }

  /**
   * Returns the check that finds changes of this folder on the disk. Returns undefined unless it is a known package directory, scope folder
   * or worker folder.
   */
  folderCheckOf(folder: string): FolderCheck | undefined {
    const listing = this.#listings.get(folder);
    if (listing) return this.#checkOfListing(listing.directory, folder);
    return this.#folders.has(folder) ? this.#checkOfFolder(folder) : undefined;
  }

  /** Number of checks that `folderChecks` yields. */
  get folderCheckCount(): number {
    return this.#listings.size + this.#folders.size;
  }

  #checkOfFolder(folder: string): FolderCheck {
    const run = (isRecheck: boolean): string[] | undefined => {
      const read = this.#folders.get(folder)?.read;
      if (!read || !hasChanged(read.watched)) return [];
      return isRecheck ? this.refresh(read.directory, folder) : undefined;
    };
    const watchable = () => {
      const read = this.#folders.get(folder)?.read;
      // Returns no folders for a missing folder, which the kernel cannot watch. The check of the parent folder detects the creation of the
      // folder.
      return read?.watched[0]?.[1] === "" ? [] : watchableFolders(read);
    };
    return { path: folder, run, watchable };
  }

  #checkOfListing(directory: string, container: string): FolderCheck {
    const run = (isRecheck: boolean): string[] | undefined => {
      if ((fingerprint(container) ?? "") === this.#listings.get(container)?.fingerprint) return [];
      return isRecheck ? this.#list(directory, container) : undefined;
    };
    return { path: container, run, watchable: () => [container] };
  }

  #list(directory: string, container: string): string[] {
    const before = this.#listings.get(container)?.folders ?? new Set<string>();
    const seen = fingerprint(container) ?? "";
    const folders = new Set(listFolders(container, directory));
    this.#listings.set(container, { directory, fingerprint: seen, folders });
    const retired: string[] = [];
    for (const folder of new Set([...before, ...folders])) {
      if (container === directory && path.basename(folder).startsWith("@")) retired.push(...this.#list(directory, folder));
      else if (!before.has(folder) || !folders.has(folder)) retired.push(...this.refresh(directory, folder));
      if (!folders.has(folder) && this.versionsIn(folder).length === 0) this.#forget(folder);
    }
    return retired;
  }

  #withStored({ directory, folder, versions }: WorkerFolder): readonly FoundVersion[] {
    const name = path.relative(directory, folder).split(path.sep).join("/");
    return withStoredVersions(folder, versions, this.#stored?.versionsOf(name) ?? [], this.#parsedManifests);
  }

  #forget(folder: string): void {
    this.#folders.delete(folder);
    this.#listings.delete(folder);
    this.#known.forget(folder);
  }

  #catalog(read: WorkerFolder, found: FoundVersion, before: readonly CatalogedVersion[]): CatalogedVersion {
    const same = before.find((earlier) => earlier.folder === found.folder && earlier.identity === found.identity);
    if (same) return same;
    this.#generations += 1;
    const source = this.#directories.find(({ path: directory }) => directory === read.directory)?.source ?? "uploaded";
    return { ...found, source, generation: String(this.#generations), directory: read.directory, workerFolder: read.folder };
  }

  #index(name: string, workerFolder: string, versions: readonly CatalogedVersion[]): void {
    this.#listed = undefined;
    const folders = this.#foldersOfName.get(name) ?? new Set<string>();
    if (versions.some((version) => version.name === name)) folders.add(workerFolder);
    else folders.delete(workerFolder);
    if (folders.size > 0) this.#foldersOfName.set(name, folders);
    else this.#foldersOfName.delete(name);
    const found = [...folders].flatMap((folder) => this.versionsIn(folder)).filter((version) => version.name === name);
    const served = found.filter((version) => this.#mayBeServed(version)).toSorted((a, b) => this.#rank(a) - this.#rank(b));
    if (served.length === 0) this.#workers.delete(name);
    else this.#workers.set(name, catalogedWorker(served));
    this.#onActiveVersion?.(name, this.resolve(name, undefined));
  }

  /**
   * Excludes an uploaded package with a reserved name. The operator has copied this package into the directory, because the daemon rejects
   * such an upload.
   */
  #mayBeServed(version: CatalogedVersion): boolean {
    if (version.source === "built-in" || !this.#reservedNames.has(version.name)) return true;
    this.#log.warn({ folder: version.folder }, `the name ${version.name} is reserved, so the daemon does not serve this folder`);
    return false;
  }

  #rank(version: CatalogedVersion): number {
    const place = this.#directories.findIndex(({ path: directory }) => directory === version.directory);
    return place * 2 + (version.folder === path.join(version.directory, version.name, version.version) ? 0 : 1);
  }
}

function isNever(): boolean {
  return false;
}

function catalogedWorker(found: readonly CatalogedVersion[]): CatalogedWorker {
  const versions = new Map<string, CatalogedVersion>();
  for (const version of found) if (!versions.has(version.version)) versions.set(version.version, version);
  return { versions, found, choice: new VersionChoice(versions.values()) };
}

function listItem(first: CatalogedVersion, all: readonly CatalogedVersion[]): Worker {
  const sorted = all.toSorted((a, b) => newestFirst(a.version, b.version));
  const deploys = sorted.flatMap(({ version, deployment }) => (deployment ? [[version, deployment]] : []));
  const installs = sorted.flatMap(({ version, installation }) => (installation ? [[version, installation]] : []));
  const local = sorted.filter(({ isLocal }) => isLocal).map(({ version }) => version);
  return {
    name: first.name,
    path: first.workerFolder,
    removable: first.source === "uploaded",
    source: first.source,
    versions: sorted.map(({ version }) => version),
    ...(local.length > 0 && { localVersions: local }),
    disabledVersions: sorted.filter(({ enabled }) => !enabled).map(({ version }) => version),
    ...(deploys.length > 0 && { deploys: Object.fromEntries(deploys) }),
    ...(installs.length > 0 && { installs: Object.fromEntries(installs) }),
  };
}
