import { existsSync } from "node:fs";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import { latestVersion } from "../../shared/package-name.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { ArchiveFormat } from "../packages/archive/unpack.js";
import type { FileChange } from "../packages/files/mounts.js";
import type { PackageFolder } from "../packages/files/package-folder.js";
import { toggledManifest } from "../packages/manifest-fields.js";
import { readPackageMetadata } from "../packages/package-metadata.js";
import type { PluginStore, PluginUpload } from "../packages/package-store.js";
import type { PackageTools } from "../packages/package-tools.js";
import type { PluginFolder, StagedPlugin } from "../packages/plugin-catalog.js";
import type { ActivateUpload } from "../packages/plugin-packages-options.js";
import { digestOfFolder } from "../packages/stored-folders.js";
import { discardAfter, retireFolder, type RetireOptions } from "../packages/transactions/install-areas.js";
import type { StagingArea } from "../packages/transactions/staging-area.js";
import { inTransaction, type Transaction } from "../packages/transactions/transaction.js";
import { listPackageFolders } from "../packages/worker-folders.js";
import { writeInstallation } from "../packages/worker-version.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { uploadOf, type ArchiveStore } from "./archive-store.js";
import type { OciPluginStore, PluginChange, PluginRow } from "./oci-plugin-store.js";
import { editPackage, publishFolder } from "./package-edit.js";
import { Retries } from "./retries.js";

interface StoredPluginsOptions extends RetireOptions {
  readonly rows: OciPluginStore;
  readonly archives: ArchiveStore;
  readonly tools: PackageTools;
}

/** Seconds after which a client can repeat a change of a plugin whose files are missing. */
const retryAfterSeconds = 5;

/** The functions by which this store loads plugins and reports changes of other daemons. */
interface PluginLoading {
  /**
   * Loads a plugin, then calls `place`, which installs the plugin. Throws if the plugin fails to load and would replace a loaded plugin.
   */
  readonly activate: ActivateUpload;
  readonly reload: () => Promise<unknown>;
  /** Called after a change of another daemon. */
  readonly onElsewhere: (change: PluginChange) => void;
}

/**
 * Makes the plugin folders of this daemon follow the index, and sends changes of this daemon to the index. If this daemon cannot load the new
 * content of a plugin, it keeps the previous one and reports the reason.
 */
export class StoredPlugins implements PluginStore {
  readonly #options: StoredPluginsOptions;
  readonly #locks = new KeyedLock();
  readonly #following = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #retries = new Retries((name) => this.#applyLocked(name), this.#closing.signal);
  /** Reasons why plugins have other content than the index, by name. */
  readonly #problems = new Map<string, string>();
  /** Names of plugins that an operator has given up, because the index lacks them. Contains a name until the plugin is removed. */
  readonly #givenUp = new Set<string>();
  #area: StagingArea | undefined;
  #loading: PluginLoading | undefined;

  constructor(options: StoredPluginsOptions) {
    this.#options = options;
  }

  /** Returns the plugins whose content in the index this daemon does not use, with the reasons. */
  problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  missing(): readonly PluginFolder[] {
    const area = this.#area;
    if (!area) return [];
    const directory = { path: area.directory, source: "uploaded" as const };
    return this.#options.rows.rows().flatMap(({ name, enabled }): PluginFolder[] => {
      const problem = this.#problems.get(name);
      const folder = this.#folderOf(name);
      if (problem === undefined || existsSync(folder)) return [];
      return [{ directory, folder, name, metadata: { name, version: latestVersion, enabled, fields: {}, declared: undefined }, problem }];
    });
  }

  /**
   * Downloads the plugins that this daemon lacks, before the first plugins are loaded. Never throws. `follow` later downloads the plugins
   * that are still missing.
   */
  async start(area: StagingArea): Promise<void> {
    this.#area = area;
    const missing = this.#options.rows.rows().filter(({ name }) => !existsSync(this.#folderOf(name)));
    await Promise.all(missing.map(({ name }) => this.#applyLocked(name)));
  }

  /** Starts to apply changes of the index to the plugin folders. Must be called after the first plugins were loaded. */
  follow(loading: PluginLoading): void {
    this.#loading = loading;
    const { rows, log } = this.#options;
    rows.follow((changes, isAccepted) => {
      const lost = isAccepted ? this.#lostNames() : [];
      for (const name of lost) this.#givenUp.add(name);
      for (const change of changes) this.#note(change.name, change);
      for (const name of lost) if (changes.every((change) => change.name !== name)) this.#note(name);
    });
    for (const name of [...rows.rows().map((row) => row.name), ...rows.deletedNames()]) this.#note(name);
    const plugins = this.#lostNames();
    if (plugins.length > 0) log.warn({ plugins }, "the index does not contain these plugins; their downloaded files are used");
  }

  isShared(name: string): boolean {
    const folder = this.#folderOf(name);
    return this.#options.rows.find(name) !== undefined && (!existsSync(folder) || digestOfFolder(folder) !== undefined);
  }

  /** Resolves when this daemon has applied the changes that the index contains now, or has failed to apply them. */
  async settled(): Promise<void> {
    await Promise.all(this.#following);
  }

  async receive(file: UploadedFile, format: ArchiveFormat): Promise<PluginUpload> {
    const { archives, rows } = this.#options;
    return uploadOf<Parameters<PluginUpload["publish"]>[0]>(await archives.receive(file, format), (metadata, archive) =>
      rows.publish(metadata, archive),
    );
  }

  async publishFolder(staged: Transaction, folder: string): Promise<void> {
    const { archives, tools, rows } = this.#options;
    const packing = { archives, tools, folder, staging: path.dirname(folder), assertAccepted: () => undefined };
    await publishFolder(packing, async (archive, metadata) => {
      await writeInstallation(staged, folder, { digest: archive.digest });
      await rows.publish(metadata, archive, null);
    });
  }

  setEnabled(name: string, enabled: boolean): Promise<void> {
    return this.#options.rows.setEnabled(name, enabled);
  }

  remove(name: string): Promise<void> {
    return this.#options.rows.remove(name);
  }

  async changeFiles(packages: readonly PackageFolder[], change: FileChange, isBuiltIn: boolean): Promise<"changed" | "removed" | "local"> {
    const { rows, archives, tools } = this.#options;
    const missing = this.missing().find(({ folder }) => packages.some((packageFolder) => packageFolder.folder === folder));
    if (missing) throw new ApiError("PACKAGE_UNAVAILABLE", `Nothing changed. ${missing.problem}`, { retryAfterSeconds });
    const area = this.#area;
    if (!area) return "local";
    const lost = new Set(this.#lostNames().map((name) => this.#folderOf(name)));
    if (packages.some(({ folder }) => lost.has(folder))) return "local";
    const isShared = ({ name, folder }: PackageFolder) =>
      folder === this.#folderOf(name) && (digestOfFolder(folder) !== undefined || (isBuiltIn && !existsSync(folder)));
    const packageFolder = packages.find(isShared);
    if (!packageFolder) return "local";
    if (packages.some(({ folder }) => folder !== packageFolder.folder))
      throw new ApiError(
        "INVALID_REQUEST",
        "With RUNTIME_PACKAGE_STORE=oci, one change can contain files of only one plugin. Send one call for each plugin.",
      );
    const { name } = packageFolder;
    const edit = () =>
      inTransaction(area, async (staged) => {
        const base = rows.find(name);
        const result = await editPackage(packageFolder, change, {
          archives,
          tools,
          staged,
          base,
          assertAccepted: (metadata) => assertSameName(metadata, name),
          publish: (archive, metadata) => rows.publish(metadata, archive, base ?? null),
          place: (copy) => this.#place(staged, copy, name),
        });
        if (result !== "changed") await staged.discard();
        return result === "removed" ? "removed" : "changed";
      });
    return await this.#locks.run(name, edit);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#options.rows.close();
    await this.#options.archives.close();
    await Promise.all(this.#following);
  }

  #note(name: string, change?: PluginChange): void {
    const following: Promise<void> = this.#apply(name, change)
      .catch((error: unknown) =>
        this.#options.log.error({ err: error, plugin: name }, "the change of a plugin by another daemon could not be reported"),
      )
      .finally(() => this.#following.delete(following));
    this.#following.add(following);
  }

  async #apply(name: string, change: PluginChange | undefined): Promise<void> {
    const isDone = await this.#applyLocked(name);
    if (change?.isElsewhere) this.#loading?.onElsewhere(change);
    if (!isDone) void this.#retries.start(name);
  }

  /** Applies the index to one plugin. Returns false if a later attempt can succeed. Never throws. */
  async #applyLocked(name: string): Promise<boolean> {
    const { log } = this.#options;
    return await this.#locks.run(name, async () => {
      if (this.#closing.signal.aborted || !this.#area) return true;
      try {
        await this.#applyOnce(this.#area, name);
        this.#problems.delete(name);
        return true;
      } catch (error) {
        const isFinal = error instanceof ApiError && error.code === "PLUGIN_LOAD_FAILED";
        this.#problems.set(
          name,
          error instanceof ApiError ? error.message : `The plugin ${name} cannot be installed. The daemon's log contains the reason.`,
        );
        const text = "a plugin of the index could not be installed; the previous plugin stays active";
        log[isFinal ? "error" : "warn"]({ err: error, plugin: name }, text);
        return isFinal;
      }
    });
  }

  async #applyOnce(area: StagingArea, name: string): Promise<void> {
    const { rows } = this.#options;
    // Waits for a running change of this daemon. Such a change has possibly written the row already, but not changed the folder yet.
    await area.exclusively(() => Promise.resolve());
    const folder = this.#folderOf(name);
    const row = rows.find(name);
    const digest = digestOfFolder(folder);
    if (row && digest === undefined && existsSync(folder)) throw notFromStore(name, folder);
    if (row && row.digest !== digest) await this.#download(area, row);
    else if (row && readPackageMetadata(folder)?.enabled !== row.enabled) await this.#writeEnabled(area, row);
    else if (!row && digest !== undefined) await this.#removeGone(area, name);
    this.#givenUp.delete(name);
  }

  /** Removes the folder of a plugin that a daemon deleted, or that an operator gave up. */
  async #removeGone(area: StagingArea, name: string): Promise<void> {
    const { rows, log } = this.#options;
    const isDeleted = rows.deletedNames().has(name);
    if (!isDeleted && !this.#givenUp.has(name)) return;
    await this.#takeAway(area, name);
    if (isDeleted) log.info({ plugin: name }, "removed a plugin that the index lists as deleted");
    else log.warn({ plugin: name }, "removed a plugin that the primary lacks, because an operator accepted its rows");
  }

  /** Downloads, verifies, unpacks and loads a plugin, then replaces its folder. */
  async #download(area: StagingArea, row: PluginRow): Promise<void> {
    const { archives, tools, rows } = this.#options;
    const { name, digest, sizeBytes, format, enabled } = row;
    await inTransaction(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const archive = path.join(path.dirname(content), "archive");
      await archives.fetch(row, name, archive);
      const { root, metadata } = await tools.unpacker.unpack({ path: archive, filename: "archive", sizeBytes }, format, content);
      assertSameName(metadata, name);
      const folder = path.join(content, root);
      if (metadata.enabled !== enabled) {
        const { filePath, text } = toggledManifest(folder, enabled);
        await staged.writeFile(filePath, text);
      }
      await writeInstallation(staged, folder, { digest });
      const directory = { path: area.directory, source: "uploaded" as const };
      const candidate: StagedPlugin = { directory, folder, target: this.#folderOf(name), name, metadata: { ...metadata, enabled } };
      const place = async () => {
        if (rows.find(name)?.digest !== digest) throw replacedMeanwhile(name);
        await this.#place(staged, folder, name);
      };
      if (this.#loading) await this.#loading.activate(candidate, place);
      else await place();
    });
  }

  /** Replaces the folder of a plugin by a staged folder. Deletes the staging folder when no isolate uses the previous files. */
  async #place(staged: Transaction, from: string, name: string): Promise<void> {
    const target = this.#folderOf(name);
    const retiring: Promise<void>[] = [];
    await this.#area?.exclusively(() =>
      staged.place({ from, target }, (movedTo) => {
        if (movedTo !== undefined) retiring.push(retireFolder(this.#options, target, movedTo));
      }),
    );
    await discardAfter(retiring, staged);
  }

  async #writeEnabled(area: StagingArea, { name, enabled }: PluginRow): Promise<void> {
    const { filePath, text } = toggledManifest(this.#folderOf(name), enabled);
    await inTransaction(area, async (staged) => {
      await area.exclusively(() => staged.writeFile(filePath, text));
      await staged.discard();
    });
    await this.#loading?.reload();
  }

  async #takeAway(area: StagingArea, name: string): Promise<void> {
    const folder = this.#folderOf(name);
    await inTransaction(area, async (staged) => {
      let retired: Promise<void> | undefined;
      await area.exclusively(() =>
        staged.takeAway([folder], ([movedTo]) => {
          retired = retireFolder(this.#options, folder, movedTo);
        }),
      );
      void Promise.resolve(retired).then(() => staged.discard());
    });
    await this.#loading?.reload();
  }

  /** Returns the names of downloaded plugins that the index has lost. Only this daemon then uses them. */
  #lostNames(): string[] {
    const { rows } = this.#options;
    const area = this.#area?.directory;
    const downloaded = area === undefined ? [] : listPackageFolders(area).filter((folder) => digestOfFolder(folder) !== undefined);
    const names = downloaded.map((folder) => path.relative(area ?? "", folder));
    return names.filter((name) => !rows.find(name) && !rows.deletedNames().has(name) && !this.#givenUp.has(name));
  }

  #folderOf(name: string): string {
    return path.join(this.#area?.directory ?? "", name);
  }
}

/** Returns the error for a folder that was copied by hand, or uploaded before the daemon had a package store. */
function notFromStore(name: string, folder: string): ApiError {
  return new ApiError(
    "PLUGIN_LOAD_FAILED",
    `This daemon cannot load the plugin ${name} from the package store, because ${folder} contains a local plugin with the same name. Delete this folder, then restart the daemon.`,
  );
}

/** Returns the error for a plugin whose row changed while its archive was downloaded and loaded. */
function replacedMeanwhile(name: string): ApiError {
  return new ApiError(
    "CHANGE_CONFLICT",
    `Another daemon changed or deleted the plugin ${name} while this daemon installed it. This daemon tries again.`,
  );
}

function assertSameName(metadata: PackageMetadata, name: string): void {
  if (metadata.name === name) return;
  throw new ApiError(
    "INVALID_PACKAGE_METADATA",
    `The change would rename the plugin ${name} to ${metadata.name}, which is not possible with RUNTIME_PACKAGE_STORE=oci. Upload a new package instead.`,
  );
}
