import path from "node:path";
import { existsSync } from "node:fs";
import { ApiError } from "../../shared/api-error.js";
import { toggledManifest } from "../packages/manifest-fields.js";
import type { FileChange } from "../packages/files/mounts.js";
import type { PackageFolder } from "../packages/files/package-folder.js";
import type { PackageRef, StoredChange, StoredVersion } from "../packages/package-store.js";
import { digestOfFolder } from "../packages/stored-folders.js";
import { discardAfter, movesOf, newPath, retireFolder } from "../packages/transactions/install-areas.js";
import { inTransaction, type Transaction } from "../packages/transactions/transaction.js";
import type { StoredWorkers, StoredWorkersOptions } from "../packages/worker-packages-options.js";
import { writeInstallation, type InstalledVersion } from "../packages/worker-version.js";
import type { OciPackageStore } from "./oci-package-store.js";
import type { ArchiveStore } from "./archive-store.js";
import { editPackage } from "./package-edit.js";
import { PackageCache, type DownloadedVersion, type UseOf } from "./package-cache.js";
import { Retries } from "./retries.js";

export interface StoredVersionsOptions extends StoredWorkersOptions {
  readonly useOf: UseOf;
  readonly store: OciPackageStore;
  readonly archives: ArchiveStore;
  /** Maximum size of all downloaded versions in bytes. */
  readonly cacheSizeBytes: number;
}

/**
 * Makes the folders of this daemon follow the index: downloads a version at its first use, replaces versions with a new digest and removes
 * deleted versions. A version that cannot be replaced is served with its previous files.
 */
export class StoredVersions implements StoredWorkers {
  readonly #options: StoredVersionsOptions;
  readonly #downloads = new Map<string, Promise<void>>();
  readonly #following = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #retries = new Retries((name) => this.#applyLocked(name), this.#closing.signal);
  readonly #cache: PackageCache;
  /** Names of the workers whose versions an operator has given up, if the index lacks them. Contains a name until its versions are removed. */
  readonly #givenUp = new Set<string>();

  constructor(options: StoredVersionsOptions) {
    const { store, archives, cacheSizeBytes: sizeBytes, useOf, log } = options;
    this.#options = options;
    this.#cache = new PackageCache({
      sizeBytes,
      digestOf: (version) => store.find(version)?.digest,
      useOf,
      hasArchive: (digest) => archives.has(digest),
      evict: (version) => this.#evict(version),
      log,
    });
    store.follow((changes, isAccepted) => this.#note(changes, isAccepted));
  }

  /** Adds the versions of the index to the catalog. Starts to apply the changes that other daemons made while this daemon was stopped. */
  start(): void {
    const { store: index, catalog, area, log } = this.#options;
    for (const name of index.names()) {
      catalog.refresh(area.directory, this.#workerFolder(name));
      // Skips a worker without a folder, because this daemon has nothing to replace or remove.
      if (existsSync(this.#workerFolder(name))) this.#follow(name);
    }
    for (const name of catalog.names()) {
      if (this.#absentVersions(name).some((version) => index.isDeleted(version))) this.#follow(name);
      const versions = versionsOf(this.#lostVersions(name));
      if (versions.length > 0) log.warn({ name, versions }, "the index does not contain these versions; their downloaded files are served");
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#following.values());
  }

  /** Downloads a version of the index unless its folder exists. Throws PACKAGE_UNAVAILABLE. */
  async ensure({ name, version, folder }: Pick<InstalledVersion, "name" | "version" | "folder">): Promise<void> {
    if (folder !== path.join(this.#workerFolder(name), version) || digestOfFolder(folder) !== undefined) return;
    if (!this.#options.store.has({ name, version })) return;
    const running = this.#downloads.get(folder);
    if (running) return await running;
    const downloading = this.#options.tools.paths
      .run(`/${name}`, async () => {
        const stored = this.#options.store.find({ name, version });
        if (stored && digestOfFolder(folder) === undefined) await this.#download(stored);
        if (stored) this.#cache.note({ name, version, folder, digest: stored.digest });
      })
      .finally(() => this.#downloads.delete(folder));
    this.#downloads.set(folder, downloading);
    await downloading;
  }

  async changeFiles(packageFolders: readonly PackageFolder[], change: FileChange): Promise<"changed" | "removed" | "local"> {
    const { area, store, archives, locks, tools } = this.#options;
    const stored = packageFolders.filter(
      ({ name, directory, folder }) => directory === area.directory && store.has({ name, version: path.basename(folder) }),
    );
    const [packageFolder] = stored;
    if (!packageFolder) return "local";
    if (packageFolders.some(({ folder }) => folder !== packageFolder.folder)) {
      throw new ApiError(
        "INVALID_REQUEST",
        "With RUNTIME_PACKAGE_STORE=oci, one change can contain files of only one version. Send one call for each version.",
      );
    }
    const { name, folder } = packageFolder;
    const version = path.basename(folder);
    await this.ensure({ name, version, folder });
    const edit = () =>
      inTransaction(area, async (staged) => {
        const base = store.find({ name, version });
        const result = await editPackage(packageFolder, change, {
          archives,
          tools,
          staged,
          base,
          assertAccepted: (metadata) => {
            if (metadata.name !== name || metadata.version !== version) throw otherIdentity(name, version);
          },
          publish: (archive, metadata) => store.replace(metadata, archive, base),
          place: (from) => this.#place(staged, { from, name, version }),
        });
        if (result !== "changed") await staged.discard();
        return result === "removed" ? "removed" : "changed";
      });
    return await locks.run(name, () => tools.paths.run(`/${name}`, edit));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // Ends running downloads, which can take minutes. The next start or request downloads the versions again.
    await this.#options.store.close();
    await Promise.all([...this.#following.values(), this.#cache.close()]);
  }

  /** Applies changes of the index. `isAccepted`: an operator has given up the downloaded versions that the index lacks. */
  #note(changes: readonly StoredChange[], isAccepted: boolean): void {
    const names = new Set(changes.map((change) => change.name));
    if (isAccepted) {
      for (const name of this.#options.catalog.names()) if (this.#lostVersions(name).length > 0) names.add(name);
      for (const name of names) this.#givenUp.add(name);
    }
    for (const name of names)
      this.#follow(
        name,
        changes.filter((change) => change.name === name),
      );
  }

  /** Applies the index to the folders of a worker, after the changes of this worker that already run. */
  #follow(name: string, changes: readonly StoredChange[] = []): void {
    const before = this.#following.get(name) ?? Promise.resolve();
    const following: Promise<void> = before
      .then(() => this.#apply(name, changes))
      .catch((error: unknown) => this.#options.log.error({ err: error, name }, "changes of another daemon could not be reported"))
      .finally(() => {
        if (this.#following.get(name) === following) this.#following.delete(name);
      });
    this.#following.set(name, following);
  }

  async #apply(name: string, changes: readonly StoredChange[]): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const isDone = await this.#applyLocked(name);
    for (const change of changes) if (change.isElsewhere) this.#options.onElsewhere(change);
    if (!isDone) void this.#retries.start(name);
  }

  /** Applies the index while no other change of the worker runs. Returns false after an error. Never throws. */
  async #applyLocked(name: string): Promise<boolean> {
    const { locks, tools, log } = this.#options;
    try {
      return await locks.run(name, () => tools.paths.run(`/${name}`, () => this.#applyOnce(name)));
    } catch (error) {
      log.error({ err: error, name }, "versions of the index could not be applied to the worker directory; the daemon tries again");
      return false;
    }
  }

  /**
   * Removes deleted versions and replaces changed ones. Returns false if an archive could not be downloaded. The previous files of that
   * version are then still served.
   */
  async #applyOnce(name: string): Promise<boolean> {
    const { store: index, catalog, area, retiring, log } = this.#options;
    await this.#removeGone(name);
    let isDone = true;
    for (const stored of index.versionsOf(name)) {
      const { version } = stored;
      const folder = path.join(this.#workerFolder(name), version);
      const digest = digestOfFolder(folder);
      if (digest === stored.digest) this.#cache.note({ name, version, folder, digest });
      if (digest === undefined || digest === stored.digest) continue;
      await this.#download(stored).catch((error: unknown) => {
        isDone = false;
        log.warn(
          { err: error, name, version: stored.version },
          "a replaced version could not be downloaded; the daemon serves its previous files and tries again",
        );
      });
    }
    for (const folder of catalog.refresh(area.directory, this.#workerFolder(name))) void retireFolder(retiring, folder, undefined);
    for (const stored of index.versionsOf(name)) await this.#writeEnabled(stored);
    return isDone;
  }

  /** Writes `enabled` of the index to the manifest on the disk, where people and tools read it. The daemon itself reads the index. */
  async #writeEnabled({ name, version, enabled }: StoredVersion): Promise<void> {
    const { area, catalog } = this.#options;
    const workerFolder = this.#workerFolder(name);
    const folder = path.join(workerFolder, version);
    const onDisk = catalog.enabledOnDisk(workerFolder, folder);
    if (onDisk === undefined || onDisk === enabled || digestOfFolder(folder) === undefined) return;
    const { filePath, text } = toggledManifest(folder, enabled);
    await inTransaction(area, async (staged) => {
      await area.exclusively(() => staged.writeFile(filePath, text, () => void catalog.refresh(area.directory, workerFolder)));
      await staged.discard();
    });
  }

  /** Removes the folders of versions that a daemon deleted, or that an operator gave up. */
  async #removeGone(name: string): Promise<void> {
    const { store: index, log } = this.#options;
    const absent = this.#absentVersions(name);
    const deleted = absent.filter((version) => index.isDeleted(version));
    const givenUp = this.#givenUp.has(name) ? absent.filter((version) => !index.isDeleted(version)) : [];
    const targets = [...deleted, ...givenUp].map(({ folder }) => folder);
    if (targets.length > 0) await this.#takeAway(name, targets);
    this.#givenUp.delete(name);
    if (deleted.length > 0) log.info({ name, versions: versionsOf(deleted) }, "removed versions that the index lists as deleted");
    if (givenUp.length > 0)
      log.warn(
        { name, versions: versionsOf(givenUp) },
        "removed versions that the primary lacks, because an operator accepted its rows; upload them again if you need them",
      );
  }

  async #takeAway(name: string, targets: string[]): Promise<void> {
    const { area, catalog, retiring } = this.#options;
    const workerFolder = this.#workerFolder(name);
    await inTransaction(area, async (staged) => {
      let retired: Promise<void>[] = [];
      await area.exclusively(() =>
        staged.takeAway(targets, (movedTo) => {
          const moves = movesOf(targets, movedTo);
          retired = catalog.refresh(area.directory, workerFolder).map((folder) => retireFolder(retiring, folder, newPath(folder, moves)));
        }),
      );
      void Promise.all(retired).then(() => staged.discard());
    });
  }

  /** Deletes the folder of a version that the registry has, unless it is in use. The next request downloads it again. */
  async #evict(version: DownloadedVersion): Promise<boolean> {
    const { area, catalog, locks, retiring, tools, useOf } = this.#options;
    const { name, folder } = version;
    const workerFolder = this.#workerFolder(name);
    const evict = () =>
      inTransaction(area, async (staged) => {
        let retired: Promise<void> | undefined;
        await area.exclusively(async () => {
          // No request can begin between this check and the rename, because both happen in one turn of the event loop.
          if (useOf(version).isInUse || digestOfFolder(folder) !== this.#options.store.find(version)?.digest) return;
          await staged.takeAway([folder], ([movedTo]) => {
            catalog.refresh(area.directory, workerFolder);
            retired = retireFolder(retiring, folder, movedTo);
          });
        });
        void Promise.resolve(retired).then(() => staged.discard());
        return retired !== undefined;
      });
    return await locks.run(name, () => tools.paths.run(`/${name}`, evict));
  }

  /** Returns the downloaded versions that the index has lost. Only this daemon serves them. */
  #lostVersions(name: string) {
    return this.#givenUp.has(name) ? [] : this.#absentVersions(name).filter((version) => !this.#options.store.isDeleted(version));
  }

  /** Returns the downloaded versions that the index does not contain. */
  #absentVersions(name: string) {
    const stored = new Set(this.#options.store.refsOf(name).map(({ version }) => version));
    return this.#options.catalog
      .versionsIn(this.#workerFolder(name))
      .filter(({ folder, version }) => !stored.has(version) && digestOfFolder(folder) !== undefined);
  }

  /** Downloads, verifies and unpacks the archive of a version, and replaces its folder. Call it while the path of the worker is locked. */
  async #download(stored: StoredVersion): Promise<void> {
    const { area, store: index, tools } = this.#options;
    const { name, version, digest, enabled, installation } = stored;
    await inTransaction(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const archive = path.join(path.dirname(content), "archive");
      const { sizeBytes } = await index.fetch(stored, archive);
      const file = { path: archive, filename: path.basename(archive), sizeBytes };
      const { root, metadata } = await tools.unpacker.unpack(file, stored.format, content);
      if (metadata.name !== name || metadata.version !== version) {
        throw new ApiError(
          "PACKAGE_UNAVAILABLE",
          `The archive of ${name} ${version} in the registry contains another package, ${metadata.name} ${metadata.version}. Upload ${name} ${version} again.`,
        );
      }
      const from = path.join(content, root);
      if (metadata.enabled !== enabled) {
        const { filePath, text } = toggledManifest(from, enabled);
        await staged.writeFile(filePath, text);
      }
      await writeInstallation(staged, from, { ...installation, digest });
      await this.#place(staged, { from, name, version });
    });
  }

  /** Replaces the folder of a version by a staged folder. Deletes the staging folder when no isolate uses the previous files. */
  async #place(staged: Transaction, { from, name, version }: { from: string; name: string; version: string }): Promise<void> {
    const { area, catalog, retiring } = this.#options;
    const workerFolder = this.#workerFolder(name);
    const target = path.join(workerFolder, version);
    let retired: Promise<void>[] = [];
    const bare = catalog.versionsIn(workerFolder).find(({ folder }) => folder === workerFolder);
    const nest = bare && { folder: workerFolder, as: bare.version };
    await area.exclusively(() =>
      staged.place({ from, target, nest }, (movedTo) => {
        retired = catalog.refresh(area.directory, workerFolder).map((folder) => retireFolder(retiring, folder, movedTo));
      }),
    );
    await discardAfter(retired, staged);
  }

  #workerFolder(name: string): string {
    return path.join(this.#options.area.directory, name);
  }
}

function versionsOf(found: readonly PackageRef[]): string[] {
  return found.map(({ version }) => version);
}

function otherIdentity(name: string, version: string): ApiError {
  return new ApiError(
    "INVALID_PACKAGE_METADATA",
    `The change would give ${name} ${version} another name or version, which is not possible with RUNTIME_PACKAGE_STORE=oci. Upload a new package instead.`,
  );
}
