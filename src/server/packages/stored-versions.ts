import path from "node:path";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import type { Log } from "../log/log.js";
import type { KeyedLock } from "../platform/keyed-lock.js";
import { toggledManifest } from "./manifest-fields.js";
import type { PackageIndex, StoredChange, StoredVersion } from "./package-store.js";
import type { PackageTools } from "./package-tools.js";
import { digestOfFolder } from "./stored-folders.js";
import { discardAfter, movesOf, newPath, retireFolder, type Retiring } from "./transactions/install-areas.js";
import type { StagingArea } from "./transactions/staging-area.js";
import { inTransaction } from "./transactions/transaction.js";
import type { WorkerCatalog } from "./worker-catalog.js";
import { workerChange } from "./worker-changes.js";
import { writeInstallation, type InstalledVersion } from "./worker-version.js";

/** Pauses in ms before the next attempts to apply the index. The last pause repeats. */
const pausesMs = [1_000, 2_000, 5_000, 10_000, 30_000];

interface StoredVersionsOptions {
  readonly index: PackageIndex;
  readonly catalog: WorkerCatalog;
  /** The area in which the daemon installs versions of the index. */
  readonly area: StagingArea;
  readonly locks: KeyedLock;
  readonly tools: PackageTools;
  readonly retiring: Retiring;
  /** Called after a change of another daemon, when `resolve` of the packages includes the change. */
  readonly onElsewhere: (change: StoredChange) => void;
  readonly log: Log;
}

/**
 * Makes the folders of this daemon follow the index: downloads a version at its first use, replaces versions with a new digest and removes
 * deleted versions. A version that cannot be replaced is served with its previous files.
 */
export class StoredVersions {
  readonly #options: StoredVersionsOptions;
  readonly #downloads = new Map<string, Promise<void>>();
  readonly #following = new Map<string, Promise<void>>();
  /** Workers for which `#applyLater` runs. */
  readonly #delayed = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: StoredVersionsOptions) {
    this.#options = options;
    options.index.follow((changes) => this.#note(changes));
  }

  /** Adds the versions of the index to the catalog, and begins to follow changes that other daemons made while this daemon was stopped. */
  start(): void {
    const { index, catalog, area, log } = this.#options;
    for (const name of index.names()) {
      catalog.refresh(area.directory, this.#workerFolder(name));
      this.#follow(name);
    }
    for (const name of catalog.names()) {
      const absent = this.#absentVersions(name);
      if (absent.some((version) => index.isDeleted(version))) this.#follow(name);
      const kept = absent.filter((version) => !index.isDeleted(version)).map(({ version }) => version);
      if (kept.length > 0)
        log.warn({ name, versions: kept }, "the index does not contain these versions; their downloaded files are served");
    }
  }

  /** Downloads a version of the index unless its folder exists. Throws PACKAGE_UNAVAILABLE. */
  async ensure({ name, version, folder }: Pick<InstalledVersion, "name" | "version" | "folder">): Promise<void> {
    if (folder !== path.join(this.#workerFolder(name), version) || digestOfFolder(folder) !== undefined) return;
    if (!this.#find(name, version)) return;
    const running = this.#downloads.get(folder);
    if (running) return await running;
    const downloading = this.#options.tools.paths
      .run(`/${name}`, async () => {
        const stored = this.#find(name, version);
        if (stored && digestOfFolder(folder) === undefined) await this.#download(stored);
      })
      .finally(() => this.#downloads.delete(folder));
    this.#downloads.set(folder, downloading);
    await downloading;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#following.values());
  }

  #note(changes: readonly StoredChange[]): void {
    for (const name of new Set(changes.map((change) => change.name)))
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
    if (!isDone) void this.#applyLater(name);
  }

  /** Applies the index after a pause. Repeats this until it succeeds or the daemon stops. */
  async #applyLater(name: string): Promise<void> {
    if (this.#delayed.has(name)) return;
    this.#delayed.add(name);
    for (let attempt = 0, isDone = false; !isDone; attempt += 1) {
      const pauseMs = pausesMs[Math.min(attempt, pausesMs.length - 1)];
      await delay(pauseMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => undefined);
      if (this.#closing.signal.aborted) break;
      isDone = await this.#applyLocked(name);
    }
    this.#delayed.delete(name);
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

  /** Returns false if an archive could not be downloaded. The previous files of this version are then still served. */
  async #applyOnce(name: string): Promise<boolean> {
    const { index, catalog, area, retiring, log } = this.#options;
    await this.#removeGone(name);
    let isDone = true;
    for (const stored of index.versionsOf(name)) {
      const digest = digestOfFolder(path.join(this.#workerFolder(name), stored.version));
      if (digest === undefined || digest === stored.digest) continue;
      await this.#download(stored).catch((error: unknown) => {
        isDone = false;
        log.warn({ err: error, name, version: stored.version }, "a new archive could not be downloaded; its previous files are served");
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
    const type = enabled ? "worker.enabled" : "worker.disabled";
    const change = workerChange(type, { name, version }, [{ directory: area.directory, workerFolder }]);
    await inTransaction(area, async (staged) => {
      await area.exclusively(() => staged.writeFile(filePath, text, change, () => void catalog.refresh(area.directory, workerFolder)));
      await staged.discard();
    });
  }

  /** Removes the folders of versions that a daemon deleted. */
  async #removeGone(name: string): Promise<void> {
    const { area, catalog, index, retiring } = this.#options;
    const gone = this.#absentVersions(name).filter((version) => index.isDeleted(version));
    if (gone.length === 0) return;
    const workerFolder = this.#workerFolder(name);
    await inTransaction(area, async (staged) => {
      let retired: Promise<void>[] = [];
      const targets = gone.map(({ folder }) => folder);
      await area.exclusively(() =>
        staged.takeAway(targets, workerChange("worker.version-deleted", { name }, gone), (movedTo) => {
          const moves = movesOf(targets, movedTo);
          retired = catalog.refresh(area.directory, workerFolder).map((folder) => retireFolder(retiring, folder, newPath(folder, moves)));
        }),
      );
      void Promise.all(retired).then(() => staged.discard());
    });
  }

  /** Returns the downloaded versions that the index does not contain. */
  #absentVersions(name: string) {
    const stored = new Set(this.#options.index.versionsOf(name).map(({ version }) => version));
    return this.#options.catalog
      .versionsIn(this.#workerFolder(name))
      .filter(({ folder, version }) => !stored.has(version) && existsSync(folder) && digestOfFolder(folder) !== undefined);
  }

  /** Downloads, verifies and unpacks the archive of a version, and replaces its folder. Call it while the path of the worker is locked. */
  async #download(stored: StoredVersion): Promise<void> {
    const { area, index, tools, catalog, retiring } = this.#options;
    const { name, version, digest, enabled, installation } = stored;
    const workerFolder = this.#workerFolder(name);
    const target = path.join(workerFolder, version);
    await inTransaction(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const archive = path.join(path.dirname(content), "archive");
      const { sizeBytes } = await index.fetch(stored, archive);
      const file = { path: archive, filename: path.basename(archive), sizeBytes };
      const { root, metadata } = await tools.unpacker.unpack(file, stored.format, content);
      if (metadata.name !== name || metadata.version !== version) {
        throw new ApiError("PACKAGE_UNAVAILABLE", `The archive of ${name} ${version} contains ${metadata.name} ${metadata.version}.`);
      }
      const from = path.join(content, root);
      if (metadata.enabled !== enabled) {
        const { filePath, text } = toggledManifest(from, enabled);
        await staged.prepareFile(filePath, text);
      }
      await writeInstallation(staged, from, { ...installation, digest });
      let retired: Promise<void>[] = [];
      const change = workerChange("worker.installed", { name, version }, [{ directory: area.directory, workerFolder }]);
      const bare = catalog.versionsIn(workerFolder).find(({ folder }) => folder === workerFolder);
      const nest = bare && { folder: workerFolder, as: bare.version };
      await area.exclusively(() =>
        staged.place({ from, target, nest }, change, (movedTo) => {
          retired = catalog.refresh(area.directory, workerFolder).map((folder) => retireFolder(retiring, folder, movedTo));
        }),
      );
      await discardAfter(retired, staged);
    });
  }

  #find(name: string, version: string): StoredVersion | undefined {
    return this.#options.index.versionsOf(name).find((stored) => stored.version === version);
  }

  #workerFolder(name: string): string {
    return path.join(this.#options.area.directory, name);
  }
}
