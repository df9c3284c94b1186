import path from "node:path";
import type { Worker } from "../../shared/contract/workers.js";
import type { Log } from "../log/log.js";
import type { Look } from "./catalog-poll.js";
import { newestFirst, VersionChoice, type InstalledVersion } from "./worker-version.js";
import type { CatalogCache } from "./catalog-cache.js";
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

/** A version and the worker's folder that it was found in. */
export interface CatalogedVersion extends InstalledVersion {
  readonly directory: string;
  readonly workerFolder: string;
  readonly identity: string;
}

interface CatalogedWorker {
  /** Of every version the one that counts. */
  readonly versions: ReadonlyMap<string, CatalogedVersion>;
  /** The others too: the same version further down the order of directories. */
  readonly found: readonly CatalogedVersion[];
  readonly choice: VersionChoice;
}

/** A directory or a scope's folder in it, and the folders of workers that were in there. */
interface Listing {
  readonly directory: string;
  readonly fingerprint: string;
  readonly folders: ReadonlySet<string>;
}

/**
 * What is installed, in memory. Reading is synchronous throughout: a folder that we have just swapped is indexed in the same instant,
 * and no request of this process can come in between.
 *
 * When two folders hold the same version of a worker, the earlier directory wins; within one, `<name>/<version>` as uploads make it.
 */
export class WorkerCatalog {
  readonly #directories: readonly PackageDirectory[];
  readonly #reservedNames: ReadonlySet<string>;
  readonly #known: CatalogCache;
  readonly #log: Log;
  readonly #onActiveVersion: ((name: string, version: InstalledVersion | undefined) => void) | undefined;
  readonly #listings = new Map<string, Listing>();
  readonly #folders = new Map<string, { readonly read: WorkerFolder; readonly versions: readonly CatalogedVersion[] }>();
  readonly #workers = new Map<string, CatalogedWorker>();
  readonly #foldersOfName = new Map<string, Set<string>>();
  #generations = 0;
  /** What `list` answers, until something changes. */
  #listed: Worker[] | undefined;

  constructor(options: {
    directories: readonly PackageDirectory[];
    reservedNames: ReadonlySet<string>;
    known: CatalogCache;
    /** The version that answers for a name may be another one now; undefined = none does. */
    onActiveVersion?: ((name: string, version: InstalledVersion | undefined) => void) | undefined;
    log: Log;
  }) {
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

  /** All versions of a worker that count, by version; undefined when there is no such worker. */
  versions(name: string): ReadonlyMap<string, CatalogedVersion> | undefined {
    return this.#workers.get(name)?.versions;
  }

  /** Every folder that holds a version of the worker, also where another folder is used instead. */
  found(name: string): readonly CatalogedVersion[] {
    return this.#workers.get(name)?.found ?? [];
  }

  /** Every version found in a worker's folder, whatever its name. */
  versionsIn(workerFolder: string): readonly CatalogedVersion[] {
    return this.#folders.get(workerFolder)?.versions ?? [];
  }

  /**
   * The workers by name. One that is built in and of which other versions were uploaded appears twice, once for each source, so that
   * `removable` is true of all versions of its row; `path` is the first folder that holds some of them. The list is frozen, and the same
   * one until something changes.
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

  /** Reads everything that is new or gone in the directories; answers with the folders that are no longer current. */
  scan(): string[] {
    return this.#directories.flatMap(({ path: directory }) => this.#list(directory, directory));
  }

  /**
   * Reads a worker's folder again; answers with the folders that are no longer current. `isChanged` tells of folders that have other
   * files by now, though their metadata may be the same.
   */
  refresh(directory: string, workerFolder: string, isChanged: (folder: string) => boolean = isNever): string[] {
    const before = this.versionsIn(workerFolder);
    const known = this.#folders.get(workerFolder)?.read ?? this.#known.recall(workerFolder);
    const read = readWorkerFolder(directory, workerFolder, known);
    this.#known.note(read);
    const after = read.versions.map((found) => this.#catalog(read, found, isChanged(found.folder) ? [] : before));
    this.#folders.set(workerFolder, { read, versions: after });
    const names = new Set([...before, ...after].map(({ name }) => name));
    for (const name of names) this.#index(name, workerFolder, after);
    const gone = before.filter((version) => !after.includes(version)).map(({ folder }) => folder);
    return gone;
  }

  /** Reads all of a directory again, and takes no package for the same; answers with the folders that are no longer current. */
  readAnew(directory: string): string[] {
    const gone = this.#list(directory, directory);
    const folders = [...this.#folders.values()].filter(({ read }) => read.directory === directory).map(({ read }) => read.folder);
    return [...gone, ...folders.flatMap((folder) => this.refresh(directory, folder, () => true))];
  }

  /**
   * A look at every directory and folder, each a few system calls. What has changed is looked at again before it is read: another
   * instance that replaces a folder has it gone for an instant, and says itself what it has done.
   */
  *looks(): Generator<Look> {
    for (const { path: directory } of this.#directories) yield this.#lookAtListing(directory, directory);
    for (const [container, { directory }] of this.#listings) {
      if (container !== directory) yield this.#lookAtListing(directory, container);
    }
    for (const folder of this.#folders.keys()) yield this.#lookAtFolder(folder);
  }

  /** The one of these looks for a directory, a scope's folder or a worker's. */
  lookAt(folder: string): Look | undefined {
    const listing = this.#listings.get(folder);
    if (listing) return this.#lookAtListing(listing.directory, folder);
    return this.#folders.has(folder) ? this.#lookAtFolder(folder) : undefined;
  }

  /** How many looks there are. */
  get lookCount(): number {
    return this.#listings.size + this.#folders.size;
  }

  #lookAtFolder(folder: string): Look {
    const take = (isSure: boolean): string[] | undefined => {
      const read = this.#folders.get(folder)?.read;
      if (!read || !hasChanged(read.watched)) return [];
      return isSure ? this.refresh(read.directory, folder) : undefined;
    };
    return { path: folder, take, watchable: () => watchableFolders(this.#folders.get(folder)?.read) };
  }

  #lookAtListing(directory: string, container: string): Look {
    const take = (isSure: boolean): string[] | undefined => {
      if ((fingerprint(container) ?? "") === this.#listings.get(container)?.fingerprint) return [];
      return isSure ? this.#list(directory, container) : undefined;
    };
    return { path: container, take, watchable: () => [container] };
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
      if (!folders.has(folder)) this.#forget(folder);
    }
    return retired;
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

  /** By hand, someone may put a package where none of that name can be uploaded to. */
  #mayBeServed(version: CatalogedVersion): boolean {
    if (version.source === "built-in" || !this.#reservedNames.has(version.name)) return true;
    this.#log.warn({ folder: version.folder }, `the name ${version.name} is reserved; this folder is not served`);
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
  return {
    name: first.name,
    path: first.workerFolder,
    removable: first.source === "uploaded",
    source: first.source,
    versions: sorted.map(({ version }) => version),
    disabledVersions: sorted.filter(({ enabled }) => !enabled).map(({ version }) => version),
    ...(deploys.length > 0 && { deploys: Object.fromEntries(deploys) }),
    ...(installs.length > 0 && { installs: Object.fromEntries(installs) }),
  };
}
