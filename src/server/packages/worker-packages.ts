import { existsSync } from "node:fs";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { Worker } from "../../shared/contract/workers.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { FileChange, PackageOwner } from "./files/mounts.js";
import type { PackageFolder } from "./files/package-folder.js";
import { archiveFormat } from "./archive/archive-unpacker.js";
import { CatalogPoll } from "./catalog-poll.js";
import { changeableVersion, enabledLatest, refuseInstalled, workerNotFound } from "./worker-changes.js";
import { inTransaction, type Transaction } from "./transactions/transaction.js";
import { InstallAreas, discardAfter, retireFolder } from "./transactions/install-areas.js";
import { WorkerRemoval } from "./worker-removal.js";
import { writeInstallation, parseWorkerManifest, type InstalledVersion } from "./worker-version.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { CatalogCache } from "./catalog-cache.js";
import { toggledManifest } from "./manifest-fields.js";
import { packageDirectories, type PackageDirectory } from "./package-directories.js";
import { refuseReservedName } from "./package-metadata.js";
import { runFileChange } from "./files/file-transaction.js";
import type { StagedVersion, StoredWorkers, WorkerInstallOptions, WorkerPackagesOptions } from "./worker-packages-options.js";
import type { StagingArea } from "./transactions/staging-area.js";
import { WorkerCatalog, type CatalogedVersion } from "./worker-catalog.js";

/** The installed workers on the disk, and all operations that list, resolve or change them. */
export class WorkerPackages implements PackageOwner {
  readonly #options: WorkerPackagesOptions;
  readonly #catalog: WorkerCatalog;
  readonly #known: CatalogCache;
  readonly #poll: CatalogPoll;
  readonly #areas: InstallAreas;
  readonly #removal: WorkerRemoval;
  readonly #stored: StoredWorkers | undefined;
  /** Lets operations on the same worker wait for each other. */
  readonly #locks = new KeyedLock();

  /** Opens the worker directories. Completes or reverts changes that a crash interrupted, then reads the directories. */
  static async open(options: WorkerPackagesOptions): Promise<WorkerPackages> {
    const directories = packageDirectories(options.builtInDirectory, options.directories);
    const areas = await InstallAreas.open({ directories, remover: options.tools.remover, log: options.log });
    return new WorkerPackages(options, directories, areas, await areas.forInstalling());
  }

  private constructor(
    options: WorkerPackagesOptions,
    directories: readonly PackageDirectory[],
    areas: InstallAreas,
    installArea: StagingArea | undefined,
  ) {
    const { index } = options.store;
    this.#options = options;
    this.#areas = areas;
    this.#known = new CatalogCache({ file: options.knownFoldersFile, log: options.log });
    this.#catalog = new WorkerCatalog({
      directories,
      known: this.#known,
      reservedNames: options.reservedNames,
      onActiveVersion: options.onActiveVersion,
      stored: index && installArea && { directory: installArea.directory, versionsOf: (name) => index.versionsOf(name) },
      log: options.log,
    });
    this.#removal = new WorkerRemoval({ catalog: this.#catalog, areas, locks: this.#locks, store: options.store, retiring: options });
    this.#catalog.scan();
    this.#stored =
      installArea &&
      options.createStored?.({
        catalog: this.#catalog,
        area: installArea,
        locks: this.#locks,
        tools: options.tools,
        retiring: options,
        onElsewhere: (change) => options.onElsewhere?.(change),
        log: options.log,
      });
    this.#stored?.start();
    this.#poll = new CatalogPoll({
      catalog: this.#catalog,
      onRetired: (folder) => void this.#retire(folder, undefined),
      log: options.log,
    });
  }

  /** Returns all workers, sorted by name. A worker with built-in and uploaded versions has two items in the list. */
  list(): Worker[] {
    return this.#catalog.list();
  }

  /**
   * Returns the version that serves requests with this range. Without a range, returns `latest`, otherwise the highest stable version,
   * otherwise the highest prerelease.
   */
  resolve(name: string, range: string | undefined): InstalledVersion | undefined {
    return this.#catalog.resolve(name, range);
  }

  /** Returns whether a worker is installed. With `version`, returns whether this version is installed. Includes disabled versions. */
  isInstalled(name: string, version: string | undefined): boolean {
    const versions = this.#catalog.versions(name);
    return versions !== undefined && (version === undefined || versions.has(version));
  }

  /** Downloads the files of a version that other daemons have installed. Throws PACKAGE_UNAVAILABLE. */
  async ensure(version: Pick<InstalledVersion, "name" | "version" | "folder">): Promise<void> {
    await this.#stored?.ensure(version);
  }

  /** Resolves when the catalog contains the changes of other daemons that this daemon has received. */
  async settled(): Promise<void> {
    await this.#stored?.settled();
  }

  /** Returns all installed versions of a worker. Empty if the worker is not installed. */
  versionsOf(name: string): readonly InstalledVersion[] {
    return [...(this.#catalog.versions(name)?.values() ?? [])];
  }

  /** Returns the folder of a version. Throws `WORKER_NOT_FOUND` or `WORKER_VERSION_NOT_FOUND`. */
  folderOf(name: string, version: string): string {
    const installed = this.#catalog.versions(name)?.get(version);
    if (!installed) throw workerNotFound(this.#catalog, name, version);
    return installed.folder;
  }

  /** Returns whether the daemon can write to a worker directory and can therefore install uploads. */
  async canInstall(): Promise<boolean> {
    return (await this.#areas.forInstalling()) !== undefined;
  }

  /**
   * Installs an archive and then deletes it. Replaces an installed version with the same number. If `authorise` or `check` throws, no worker
   * has changed. Resolves when the catalog contains the new version.
   */
  async install(
    file: UploadedFile,
    { authorise, check, installation, isNewOnly = false, disablesLatest = false }: WorkerInstallOptions,
  ): Promise<{ name: string; version: string; installedAt: string }> {
    const format = archiveFormat(file.filename);
    const area = await this.#installArea();
    const upload = await this.#options.store.receive(file, format);
    const installing = inTransaction(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const { root, metadata } = await this.#options.tools.unpacker.unpack(file, format, content);
      const { name, version } = metadata;
      refuseReservedName(name, this.#options.reservedNames);
      authorise(name);
      const manifest = this.#servable(metadata);
      this.#options.secrets?.assertPresent(name, manifest, { countsStaged: true });
      const from = path.join(content, root);
      if (isNewOnly) refuseInstalled(this.#catalog, name, version);
      if (check) await this.#options.check?.({ name, version, folder: from, generation: "", manifest }, check);
      const digest = await upload.send();
      if (installation ?? digest) await writeInstallation(staged, from, { ...installation, ...(digest !== undefined && { digest }) });
      const installed = { name, version, installedAt: path.join(area.directory, name, version) };
      const retiring = await this.#options.tools.paths.run(`/${name}`, () => {
        this.#refuseTakenPath(name);
        return area.exclusively(() => {
          if (isNewOnly) refuseInstalled(this.#catalog, name, version);
          const disabled = disablesLatest ? enabledLatest(this.#catalog, { name, version, directory: area.directory }) : undefined;
          const publish = () => upload.publish({ metadata, installation, isNewOnly, disables: disabled });
          return this.#place(area, staged, { ...installed, from, manifest, disabled, publish });
        });
      });
      await discardAfter(retiring, staged);
      return installed;
    });
    return await installing.finally(() => upload.discard());
  }

  /** Enables or disables a worker version by a change of `enabled` in its manifest. */
  async setEnabled(name: string, version: string, enabled: boolean): Promise<void> {
    await this.#locks.run(name, () => this.#setEnabled(name, version, enabled));
  }

  async #setEnabled(name: string, version: string, enabled: boolean): Promise<void> {
    const isDoneAlready = (current: CatalogedVersion) => current.enabled === enabled && current.problem === undefined;
    const found = changeableVersion(this.#catalog, name, version);
    // Calls the store even if `enabled` already has this value here. Another daemon can have changed a shared version, and this daemon
    // possibly has not received the change yet.
    if (isDoneAlready(found)) return await this.#options.store.setEnabled(found, enabled);
    const area = this.#areas.of(found.directory);
    const isDone = await inTransaction(area, async (staged) => {
      const isHere = await area.exclusively(async () => {
        const current = changeableVersion(this.#catalog, name, version);
        if (current.directory !== area.directory) return false;
        if (enabled) this.#options.secrets?.assertPresent(name, current.manifest, { countsStaged: false });
        const { filePath, text } = toggledManifest(current.folder, enabled);
        await this.#options.store.setEnabled(current, enabled);
        // Writes no manifest if the daemon has not downloaded this version yet, because the catalog then uses the index. Also writes no
        // manifest that already has this value.
        if (!this.#isOnDisk(current.folder) || isDoneAlready(current)) return true;
        await staged.writeFile(filePath, text, () => {
          for (const folder of this.#catalog.refresh(current.directory, current.workerFolder)) void this.#retire(folder, undefined);
        });
        return true;
      });
      void staged.discard();
      return isHere;
    });
    // Repeats the whole operation if an upload has installed the version in another directory meanwhile.
    if (!isDone) await this.#setEnabled(name, version, enabled);
  }

  /** Deletes all uploaded versions of a worker. Built-in versions stay. */
  async remove(name: string): Promise<void> {
    await this.#removal.remove(name);
  }

  /** Deletes all uploaded folders with this version of the worker. */
  async removeVersion(name: string, version: string): Promise<void> {
    await this.#removal.removeVersion(name, version);
  }

  async prepare({ name, folder }: PackageFolder): Promise<void> {
    await this.ensure({ name, version: path.basename(folder), folder });
  }

  async changeFiles(packageFolders: readonly PackageFolder[], change: FileChange): Promise<void> {
    const result = await this.#stored?.changeFiles(packageFolders, change);
    if (result === "removed") for (const { name, folder } of packageFolders) await this.removeVersion(name, path.basename(folder));
    if (this.#stored && result !== "local") return;
    const renew = ({ directory, folder }: PackageFolder, movedTo: string | undefined) => {
      const workerFolder = path.dirname(folder);
      const isChanged = (version: string) => version === folder || version === workerFolder;
      return this.#catalog.refresh(directory, workerFolder, isChanged).map((gone) => this.#retire(gone, movedTo));
    };
    await runFileChange({ areas: this.#areas, renew }, packageFolders, change);
  }

  namesIn({ folder }: PackageFolder): string[] {
    const workerFolder = path.dirname(folder);
    const versions = this.#catalog.versionsIn(workerFolder);
    return versions.filter((version) => version.folder === folder || version.folder === workerFolder).map(({ name }) => name);
  }

  assertUsable(_folder: PackageFolder, metadata: PackageMetadata): void {
    this.#options.secrets?.assertPresent(metadata.name, this.#servable(metadata), { countsStaged: false });
  }

  assertAcceptable(packageFolder: PackageFolder, { name = packageFolder.name }: Readonly<Record<string, unknown>>): void {
    if (typeof name !== "string") return;
    refuseReservedName(name, this.#options.reservedNames);
    this.#refuseTakenPath(name);
  }

  /** Ends the checks of the directories and writes the catalog cache. The next start deletes the remaining staging folders. */
  async close(): Promise<void> {
    this.#poll.close();
    await this.#stored?.close();
    await this.#areas.close();
    await this.#options.store.close();
    await this.#known.save();
  }

  /** Returns the manifest of the worker. Throws INVALID_PACKAGE_METADATA if this daemon would not serve the worker. */
  #servable(metadata: PackageMetadata): WorkerManifest {
    const manifest = parseWorkerManifest(metadata);
    const refusal = this.#options.refusal?.(manifest, metadata.name);
    if (refusal !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", refusal);
    return manifest;
  }

  /** Returns false if a store has the version and this daemon has not downloaded it. */
  #isOnDisk(folder: string): boolean {
    return !this.#stored || existsSync(folder);
  }

  #refuseTakenPath(name: string): void {
    if (!this.#options.isPluginBase?.(`/${name}`)) return;
    throw new ApiError(
      "BASE_TAKEN",
      `A plugin has the base path /${name}, so requests would not reach this worker. Give the worker another name.`,
    );
  }

  /** Installs the folder of a version. Returns promises that resolve when no isolate uses the replaced folders. */
  async #place(
    area: StagingArea,
    staged: Transaction,
    { name, version, installedAt: target, from, manifest, disabled, publish }: StagedVersion,
  ): Promise<Promise<void>[]> {
    if (this.#catalog.versions(name)?.get(version)?.source === "built-in") {
      throw new ApiError(
        "BUILT_IN_WORKER_CHANGE_FORBIDDEN",
        `${name} ${version} is built in and would be served instead of this upload. Give the package another version.`,
      );
    }
    const workerFolder = path.dirname(target);
    const isReplaced = (folder: string) => folder === target;
    const bare = this.#catalog.versionsIn(workerFolder).find(({ folder }) => folder === workerFolder);
    const nest = bare && { folder: workerFolder, as: bare.version };
    let retiring: Promise<void>[] = [];
    let isPublished = false;
    // Checks the secrets again, because an operator can have deleted a secret while the daemon unpacked the archive.
    this.#options.secrets?.assertPresent(name, manifest, { countsStaged: true });
    const revertSecrets = await this.#options.secrets?.applyStaged(name);
    try {
      const toggled = disabled && this.#isOnDisk(disabled.folder) ? toggledManifest(disabled.folder, false) : undefined;
      const alsoWritten = toggled && { file: toggled.filePath, text: toggled.text };
      await publish();
      isPublished = this.#stored !== undefined;
      await staged.place({ from, target, nest, alsoWritten }, (movedTo) => {
        retiring = this.#catalog.refresh(area.directory, workerFolder, isReplaced).map((folder) => this.#retire(folder, movedTo));
      });
    } catch (error) {
      // Ignores an error of the revert, because the caller receives the error of the installation. Keeps the secrets of a published
      // version, because the next start or the first request downloads this version.
      if (!isPublished) await revertSecrets?.().catch(() => undefined);
      throw error;
    }
    return retiring;
  }

  #retire(folder: string, movedTo: string | undefined): Promise<void> {
    return retireFolder(this.#options, folder, movedTo);
  }

  async #installArea(): Promise<StagingArea> {
    const area = await this.#areas.forInstalling();
    if (area) return area;
    throw new ApiError(
      "NO_WORKER_DIRS",
      "The worker cannot be installed, because no worker directory is writable. Add a writable directory to RUNTIME_WORKER_DIRS. The name of the directory must not begin with a dot.",
    );
  }
}
