import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { UploadedFile } from "../../shared/contract/endpoint.js";
import type { Worker } from "../../shared/contract/workers.js";
import type { FileChange, PackageKeeper } from "./files/package-keeper.js";
import type { Unit } from "./files/unit.js";
import { archiveFormat } from "./archive-unpacker.js";
import { CatalogPoll } from "./catalog-poll.js";
import { inStagedFolder } from "./in-staged-folder.js";
import { InstallAreas } from "./install-areas.js";
import type { InstalledVersion } from "./installed-version.js";
import { KnownVersions } from "./known-versions.js";
import { KeyedLock } from "./keyed-lock.js";
import { toggledManifest } from "./manifest-toggle.js";
import { packageDirectories, type PackageDirectory } from "./package-directories.js";
import { refuseReservedName } from "./reserved-names.js";
import { runFileChange } from "./run-file-change.js";
import { retireFolder } from "./retire-folder.js";
import type { WorkerPackagesOptions } from "./worker-packages-options.js";
import type { StagedFolder } from "./staged-folder.js";
import type { StagingArea } from "./staging-area.js";
import { WorkerCatalog, type CatalogedVersion } from "./worker-catalog.js";
import { parseWorkerManifest } from "./worker-version.js";

export type { InstalledVersion } from "./installed-version.js";

/** The installed workers: what there is, and every way to change it. */
export class WorkerPackages implements PackageKeeper {
  readonly #options: WorkerPackagesOptions;
  readonly #catalog: WorkerCatalog;
  readonly #known: KnownVersions;
  readonly #poll: CatalogPoll;
  readonly #areas: InstallAreas;
  readonly #locks = new KeyedLock();

  /** Finishes or undoes what a crash left in the directories, then reads them. */
  static async open(options: WorkerPackagesOptions): Promise<WorkerPackages> {
    const directories = packageDirectories(options.builtInDirectory, options.directories);
    const areas = await InstallAreas.open({ directories, remover: options.tools.remover, log: options.log });
    return new WorkerPackages(options, directories, areas);
  }

  private constructor(options: WorkerPackagesOptions, directories: readonly PackageDirectory[], areas: InstallAreas) {
    this.#options = options;
    this.#areas = areas;
    this.#known = new KnownVersions({ file: options.knownVersionsFile, log: options.log });
    this.#catalog = new WorkerCatalog({
      directories,
      known: this.#known,
      reservedNames: options.reservedNames,
      onAnswering: options.onAnswering,
      log: options.log,
    });
    this.#catalog.scan();
    this.#poll = new CatalogPoll({ catalog: this.#catalog, onRetired: (folder) => void this.#retire(folder, undefined), log: options.log });
  }

  /** All workers, by name; one whose versions are partly built in and partly uploaded appears once for each. */
  list(): Worker[] {
    return this.#catalog.list();
  }

  /** The enabled version that answers for a name, in memory: without a range `latest`, else the highest stable, else the highest prerelease. */
  resolve(name: string, range: string | undefined): InstalledVersion | undefined {
    return this.#catalog.resolve(name, range);
  }

  /** Whether a worker, or a certain version of it, is there, enabled or not. */
  isInstalled(name: string, version: string | undefined): boolean {
    const versions = this.#catalog.versions(name);
    return versions !== undefined && (version === undefined || versions.has(version));
  }

  /** Where a version lies; throws `WORKER_NOT_FOUND` or `WORKER_VERSION_NOT_FOUND`. */
  folderOf(name: string, version: string): string {
    const installed = this.#catalog.versions(name)?.get(version);
    if (!installed) throw this.#notFound(name, version);
    return installed.folder;
  }

  /** Whether there is a directory to install to. */
  async canInstall(): Promise<boolean> {
    return (await this.#areas.forInstalling()) !== undefined;
  }

  /**
   * Installs an archive in place of the same version and deletes its file. `authorise` is called as soon as the name is known and before anything shows;
   * when it throws, nothing has changed. Answers when the new code is what `resolve` gives.
   */
  async install(file: UploadedFile, authorise: (name: string) => void): Promise<{ name: string; version: string; installedAt: string }> {
    const format = archiveFormat(file.filename);
    const area = await this.#installArea();
    return await inStagedFolder(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const { root, metadata } = await this.#options.tools.unpacker.unpack(file, format, content);
      const { name, version } = metadata;
      refuseReservedName(name, this.#options.reservedNames);
      authorise(name);
      const manifest = parseWorkerManifest(metadata);
      const refusal = this.#options.refusal?.(manifest);
      if (refusal !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", refusal);
      const from = path.join(content, root);
      await this.#options.check?.({ name, version, folder: from, generation: "", manifest });
      const installed = { name, version, installedAt: path.join(area.directory, name, version) };
      await this.#locks.run(name, () => this.#place(area, staged, { ...installed, from }));
      return installed;
    });
  }

  /** Lets a version be served, or not any more; the flag is written to its manifest. */
  async setEnabled(name: string, version: string, enabled: boolean): Promise<void> {
    await this.#locks.run(name, async () => {
      const current = this.#catalog.versions(name)?.get(version);
      if (!current) throw this.#notFound(name, version);
      if (current.source === "built-in") {
        throw new ApiError("BUILT_IN_WORKER_CHANGE_FORBIDDEN", `${name} ${version} is built in and cannot be enabled or disabled.`);
      }
      if (current.enabled === enabled && current.problem === undefined) return;
      await inStagedFolder(this.#areas.of(current.directory), async (staged) => {
        const { filePath, text } = toggledManifest(current.folder, enabled);
        await staged.writeFile(filePath, text, () => {
          for (const folder of this.#catalog.refresh(current.directory, current.workerFolder)) void this.#retire(folder, undefined);
        });
        void staged.discard();
      });
    });
  }

  /** Deletes all uploaded versions of a worker; those that are built in stay. */
  async remove(name: string): Promise<void> {
    await this.#locks.run(name, async () => {
      const found = this.#catalog.found(name);
      if (found.length === 0) throw this.#notFound(name, undefined);
      const uploaded = found.filter(({ source }) => source === "uploaded");
      if (uploaded.length === 0) {
        throw new ApiError("BUILT_IN_WORKER_REMOVE_FORBIDDEN", `${name} is built in and cannot be deleted.`);
      }
      await this.#takeAway(uploaded, (version) => this.#wholeWorker(version));
    });
  }

  /** Deletes one version, wherever it is uploaded. */
  async removeVersion(name: string, version: string): Promise<void> {
    await this.#locks.run(name, async () => {
      const found = this.#catalog.found(name).filter((candidate) => candidate.version === version);
      if (found.length === 0) throw this.#notFound(name, version);
      const uploaded = found.filter(({ source }) => source === "uploaded");
      if (uploaded.length === 0) {
        throw new ApiError("BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN", `${name} ${version} is built in and cannot be deleted.`);
      }
      await this.#takeAway(uploaded, ({ folder }) => folder);
    });
  }

  async changeFiles(units: readonly Unit[], change: FileChange): Promise<void> {
    const renew = ({ directory, folder }: Unit, movedTo: string | undefined) => {
      const workerFolder = path.dirname(folder);
      const isChanged = (version: string) => version === folder || version === workerFolder;
      return this.#catalog.refresh(directory, workerFolder, isChanged).map((gone) => this.#retire(gone, movedTo));
    };
    await runFileChange({ areas: this.#areas, locks: this.#locks, renew }, units, change);
  }

  namesIn({ folder }: Unit): string[] {
    const workerFolder = path.dirname(folder);
    const versions = this.#catalog.versionsIn(workerFolder);
    return versions.filter((version) => version.folder === folder || version.folder === workerFolder).map(({ name }) => name);
  }

  assertAcceptable(_unit: Unit, { name }: Readonly<Record<string, unknown>>): void {
    if (typeof name === "string") refuseReservedName(name, this.#options.reservedNames);
  }

  /** Stops looking at the directories; what is not deleted yet goes at the next start. */
  async close(): Promise<void> {
    this.#poll.close();
    await this.#areas.settled();
    await this.#known.save();
  }

  async #place(
    area: StagingArea,
    staged: StagedFolder,
    change: { name: string; version: string; installedAt: string; from: string },
  ): Promise<void> {
    const { name, version, installedAt: target, from } = change;
    if (this.#catalog.versions(name)?.get(version)?.source === "built-in") {
      throw new ApiError(
        "BUILT_IN_WORKER_CHANGE_FORBIDDEN",
        `${name} ${version} is built in and would be served instead of this upload. Give the package another version.`,
      );
    }
    const workerFolder = path.dirname(target);
    const bare = this.#catalog.versionsIn(workerFolder).find(({ folder }) => folder === workerFolder);
    const nest = bare && { folder: workerFolder, as: bare.version };
    let retiring: Promise<void>[] = [];
    await staged.place({ from, target, nest }, (movedTo) => {
      retiring = this.#catalog.refresh(area.directory, workerFolder).map((folder) => this.#retire(folder, movedTo));
    });
    const cleaned = Promise.all(retiring).then(() => staged.discard());
    // What runs from the old folder may take its time.
    if (retiring.length === 0) await cleaned;
  }

  /** The worker's own folder when all in it is of that worker, else the version's. */
  #wholeWorker(version: CatalogedVersion): string {
    const isAlone = this.#catalog.versionsIn(version.workerFolder).every(({ name }) => name === version.name);
    return isAlone ? version.workerFolder : version.folder;
  }

  async #takeAway(versions: readonly CatalogedVersion[], choose: (version: CatalogedVersion) => string): Promise<void> {
    for (const area of this.#areas.all()) {
      const inArea = versions.filter((version) => version.directory === area.directory);
      const targets = [...new Set(inArea.map(choose))];
      if (targets.length === 0) continue;
      await inStagedFolder(area, async (staged) => {
        await staged.takeAway(targets, (movedTo) => this.#afterTakingAway(staged, inArea, { targets, movedTo }));
      });
    }
  }

  #afterTakingAway(
    staged: StagedFolder,
    versions: readonly CatalogedVersion[],
    moved: { targets: readonly string[]; movedTo: readonly string[] },
  ): void {
    const retiring: Promise<void>[] = [];
    for (const workerFolder of new Set(versions.map((version) => version.workerFolder))) {
      const [{ directory }] = versions as [CatalogedVersion];
      for (const folder of this.#catalog.refresh(directory, workerFolder)) retiring.push(this.#retire(folder, newPath(folder, moved)));
    }
    void Promise.all(retiring).then(() => staged.discard());
  }

  #retire(folder: string, movedTo: string | undefined): Promise<void> {
    return retireFolder(this.#options, folder, movedTo);
  }

  async #installArea(): Promise<StagingArea> {
    const area = await this.#areas.forInstalling();
    if (area) return area;
    throw new ApiError(
      "NO_WORKER_DIRS",
      "None of the worker directories can be installed to. Make one of RUNTIME_WORKER_DIRS writable for the daemon; its name must not start with a dot.",
    );
  }

  #notFound(name: string, version: string | undefined): ApiError {
    if (version !== undefined && this.#catalog.versions(name)) {
      return new ApiError("WORKER_VERSION_NOT_FOUND", `Version ${version} of ${name} is not installed.`);
    }
    return new ApiError("WORKER_NOT_FOUND", `No worker named ${name} is installed.`);
  }
}

/** Where a folder lies after it or one above it was moved. */
function newPath(folder: string, moved: { targets: readonly string[]; movedTo: readonly string[] }): string | undefined {
  const index = moved.targets.findIndex((target) => folder === target || folder.startsWith(target + path.sep));
  if (index === -1) return undefined;
  return path.join(moved.movedTo[index] as string, path.relative(moved.targets[index] as string, folder));
}
