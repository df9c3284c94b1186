import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import {
  PluginCatalog,
  fieldsOf,
  parsePlugin,
  pluginNotFound,
  hasManifest,
  isBareManifest,
  isBareSwitch,
  readPluginFolder,
  type InstalledPlugin,
  type CatalogedPlugin,
  type PluginFolder,
  type StagedPlugin,
} from "./plugin-catalog.js";
import type { FileChange, PackageOwner } from "./files/mounts.js";
import type { PackageFolder } from "./files/package-folder.js";
import { archiveFormat } from "./archive/archive-unpacker.js";
import { inTransaction, type Transaction } from "./transactions/transaction.js";
import { InstallAreas, discardAfter, retireFolder } from "./transactions/install-areas.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { exists } from "./transactions/journal.js";
import { packageDirectories, type PackageDirectory } from "./package-directories.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import { writeInstallation } from "./worker-version.js";
import type { ActivateUpload, PlacedPlugin, PluginPackagesOptions } from "./plugin-packages-options.js";
import { toggledManifest } from "./manifest-fields.js";
import { refuseReservedName } from "./package-metadata.js";
import { runFileChange } from "./files/file-transaction.js";
import type { StagingArea } from "./transactions/staging-area.js";

/** The installed plugins, and all operations that change plugins on the disk. The code in `src/server/plugins` loads them. */
export class PluginPackages implements PackageOwner {
  readonly #options: PluginPackagesOptions;
  readonly #areas: InstallAreas;
  readonly #catalog: PluginCatalog;
  /** Lets operations on the same plugin wait for each other. */
  readonly #locks = new KeyedLock();

  /** Opens the plugin directories. Completes or reverts changes that a crash interrupted. */
  static async open(options: PluginPackagesOptions): Promise<PluginPackages> {
    const directories = packageDirectories(options.builtInDirectory, options.directories);
    const areas = await InstallAreas.open({ directories, remover: options.tools.remover, log: options.log });
    return new PluginPackages(options, directories, areas);
  }

  private constructor(options: PluginPackagesOptions, directories: readonly PackageDirectory[], areas: InstallAreas) {
    this.#options = options;
    this.#areas = areas;
    this.#catalog = new PluginCatalog(directories, options, () => options.store?.missing() ?? []);
  }

  /** Returns whether an installed plugin has this base path. Includes disabled plugins. */
  isBase(base: string): boolean {
    return this.#catalog.list().some(({ manifest }) => manifest.base === base);
  }

  /** Returns all plugins on the disk, sorted by name. With `upload`, returns the plugins as they will be after its installation. */
  discover(upload?: StagedPlugin): InstalledPlugin[] {
    return this.#catalog.list(upload);
  }

  /** Returns whether only this daemon has the uploaded part of a plugin, although it shares plugins with other daemons. */
  isLocal({ name, removable }: Pick<InstalledPlugin, "name" | "removable">): boolean {
    return removable && this.#options.store?.isShared(name) === false;
  }

  /** Returns whether the daemon can write to a plugin directory and can therefore install uploads. */
  async canInstall(): Promise<boolean> {
    return (await this.#areas.forInstalling()) !== undefined;
  }

  /**
   * Installs an archive, replaces the plugin with the same name, and deletes the archive. Calls `authorise` and `activate` before the
   * upload is visible. If one of them throws, no plugin has changed.
   */
  async install(file: UploadedFile, authorise: (name: string) => void, activate = placeOnly): Promise<PlacedPlugin> {
    const format = archiveFormat(file.filename);
    const area = await this.installArea();
    const upload = await this.#options.store?.receive(file, format);
    const installing = inTransaction(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const { root, metadata } = await this.#options.tools.unpacker.unpack(file, format, content);
      const { name } = metadata;
      refuseReservedName(name, this.#options.reservedNames);
      authorise(name);
      const from = path.join(content, root);
      const installedAt = path.join(area.directory, name);
      const directory = { path: area.directory, source: "uploaded" as const };
      const candidate = { directory, folder: from, target: installedAt, name, metadata };
      await this.#assertSettings(candidate);
      let version = this.#acceptedVersion(candidate);
      const digest = await upload?.send();
      if (digest !== undefined) await writeInstallation(staged, from, { digest });
      let retiring: Promise<void>[] = [];
      const place = async () => {
        version = this.#acceptedVersion(candidate);
        await upload?.publish(metadata);
        retiring = await this.#place(staged, from, installedAt);
      };
      const base = this.#baseOf(candidate) ?? name;
      await activate(candidate, () => this.#options.tools.paths.run(base, () => area.exclusively(place)));
      await discardAfter(retiring, staged);
      return { name, version, installedAt };
    });
    return await installing.finally(() => upload?.discard());
  }

  /**
   * Sets `enabled` in the plugin's manifest, or in a manifest that overrides a built-in plugin. Deletes an overriding manifest that
   * contains only `enabled` if the built-in plugin already has this state.
   */
  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#locks.run(name, () => this.#setEnabled(name, enabled));
  }

  async #setEnabled(name: string, enabled: boolean): Promise<void> {
    const isDoneAlready = (plugin: InstalledPlugin) => plugin.enabled === enabled && plugin.problem === undefined;
    const { store } = this.#options;
    // Only the store has the state of a plugin whose files are missing.
    if (store?.missing().some(({ folder }) => folder === this.found(name).code.folder)) return await store.setEnabled(name, enabled);
    const { own, plugin: found } = this.#toggled(name);
    // Calls the store even if `enabled` already has this value here. Another daemon can have changed a shared plugin, and this daemon
    // possibly has not received the change yet.
    if (isDoneAlready(found)) return await store?.setEnabled(name, enabled);
    const area = own ? this.#areas.of(own.directory.path) : await this.installArea();
    const isDone = await inTransaction(area, async (staged) => {
      let retiring: Promise<void>[] = [];
      const isHere = await area.exclusively(async () => {
        const { own: current, plugin } = this.#toggled(name);
        if (current ? current.directory.path !== area.directory : own !== undefined) return false;
        if (!current) retiring = await this.#layOver(area, staged, name, enabled);
        else if (this.#isShippedAs(enabled, current)) {
          await store?.remove(name);
          retiring = await this.#takeFolders(staged, [current.folder]);
        } else {
          await store?.setEnabled(name, enabled);
          if (isDoneAlready(plugin)) return true;
          const { filePath, text } = toggledManifest(current.folder, enabled);
          await staged.writeFile(filePath, text);
        }
        return true;
      });
      await discardAfter(retiring, staged);
      return isHere;
    });
    // Repeats the whole operation if the plugin was uploaded or deleted meanwhile.
    if (!isDone) await this.#setEnabled(name, enabled);
  }

  /** Deletes all uploaded folders of the plugin with this name. If the plugin is built in, its own manifest is then effective. */
  async remove(name: string): Promise<void> {
    const { plugin } = this.found(name);
    if (!plugin.removable) throw new ApiError("BUILT_IN_PLUGIN_REMOVE_FORBIDDEN", `${name} is built in and cannot be deleted.`);
    await this.#locks.run(name, async () => {
      const { store } = this.#options;
      // Remembers that a folder exists, because the store also deletes the folder, possibly before this call.
      let isAnything = store !== undefined && (this.#catalog.find(name)?.uploaded.length ?? 0) > 0;
      await store?.remove(name);
      for (const area of this.#areas.all()) isAnything = (await this.#takeAway(area, name)) || isAnything;
      if (!isAnything) throw pluginNotFound(name);
    });
  }

  async changeFiles(packageFolders: readonly PackageFolder[], change: FileChange): Promise<void> {
    const isBuiltIn = packageFolders.some(({ name }) => this.#catalog.find(name)?.builtIn !== undefined);
    const result = await this.#options.store?.changeFiles(packageFolders, change, isBuiltIn);
    if (result === "removed") for (const { name } of packageFolders) await this.remove(name);
    if (result === "changed" || result === "removed") return;
    const renew = ({ folder }: PackageFolder, movedTo: string | undefined) =>
      movedTo === undefined ? [] : [retireFolder(this.#options, folder, movedTo)];
    await runFileChange({ areas: this.#areas, renew }, packageFolders, change);
  }

  namesIn({ directory, folder }: PackageFolder): string[] {
    const found = readPluginFolder({ path: directory, source: "uploaded" }, folder);
    return found ? [found.name] : [];
  }

  assertUsable({ directory, folder }: PackageFolder, metadata: PackageMetadata): void {
    const { name } = metadata;
    const changed = { directory: { path: directory, source: "uploaded" as const }, folder, name, metadata };
    const builtIn = this.#catalog.find(name)?.builtIn;
    parsePlugin(fieldsOf(builtIn ? { code: builtIn, overlay: changed } : { code: changed, overlay: undefined }), this.#options);
  }

  async assertSettings({ directory, folder }: PackageFolder, metadata: PackageMetadata): Promise<void> {
    await this.#assertSettings({ directory: { path: directory, source: "uploaded" }, folder, name: metadata.name, metadata });
  }

  assertAcceptable(packageFolder: PackageFolder, { name = packageFolder.name, base }: Readonly<Record<string, unknown>>): void {
    if (typeof name !== "string") return;
    refuseReservedName(name, this.#options.reservedNames);
    if (typeof base === "string") this.#refuseTakenBase(name, base);
  }

  /** Unlocks the directories. The next start deletes the remaining staging folders. */
  async close(): Promise<void> {
    await this.#areas.close();
  }

  /** Returns the version that the plugin gets by the installation. Throws ApiError if the plugin cannot be installed. */
  #acceptedVersion(candidate: PluginFolder & { metadata: PackageMetadata }): string {
    const { name, metadata } = candidate;
    this.#refuseTakenBase(name, this.#baseOf(candidate));
    const builtIn = this.#catalog.find(name)?.builtIn;
    if (!builtIn) return metadata.version;
    if (!isBareManifest(candidate)) {
      throw new ApiError(
        "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
        `${name} is built in, and its code cannot be replaced. To change its settings, upload only a manifest.yaml. To upload this code, give the plugin another name.`,
      );
    }
    const fields = fieldsOf({ code: builtIn, overlay: candidate });
    parsePlugin(fields, this.#options);
    return fields.version;
  }

  /** Rejects with INVALID_PACKAGE_METADATA if the folder overrides a built-in plugin and that plugin does not accept the settings. */
  async #assertSettings(candidate: PluginFolder): Promise<void> {
    const problem = isBareManifest(candidate) ? await this.overrideProblem(candidate) : undefined;
    if (problem === undefined) return;
    throw new ApiError(
      "INVALID_PACKAGE_METADATA",
      `Nothing was changed, because the plugin ${candidate.name} rejects these settings: ${problem}.`,
    );
  }

  /**
   * Returns the reason why a built-in plugin rejects `overlay`, a manifest that overrides the built-in manifest. Undefined if the plugin
   * accepts `overlay`.
   */
  async overrideProblem(overlay: PluginFolder): Promise<string | undefined> {
    const builtIn = this.#catalog.find(overlay.name)?.builtIn;
    if (!builtIn) return undefined;
    const { manifest, config } = parsePlugin(fieldsOf({ code: builtIn, overlay }), this.#options);
    return this.#options.settingsProblem?.({ name: overlay.name, folder: builtIn.folder, manifest, config });
  }

  #baseOf(candidate: PluginFolder): string | undefined {
    return parsePlugin(fieldsOf({ code: candidate, overlay: undefined }), this.#options).manifest.base;
  }

  /** Throws if a worker or another plugin, even a disabled one, has this base path. Only one of them could receive requests. */
  #refuseTakenBase(name: string, base: string | undefined): void {
    if (base === undefined) return;
    if (this.#options.isWorker?.(base.slice(1)))
      throw new ApiError("BASE_TAKEN", `The base path ${base} is the path of the worker ${base.slice(1)}. Choose another base path.`);
    if (!this.#catalog.list().some((plugin) => plugin.name !== name && plugin.manifest.base === base)) return;
    throw new ApiError("INVALID_PACKAGE_METADATA", `Another plugin has the base path ${base}. Choose another base path.`);
  }

  /** Installs the staged folder `from` at `target`. Returns promises that resolve when no isolate uses the replaced folders. */
  async #place(staged: Transaction, from: string, target: string): Promise<Promise<void>[]> {
    const retiring: Promise<void>[] = [];
    await staged.place({ from, target }, (movedTo) => {
      if (movedTo !== undefined) retiring.push(retireFolder(this.#options, target, movedTo));
    });
    return retiring;
  }

  async #layOver(area: StagingArea, staged: Transaction, name: string, enabled: boolean): Promise<Promise<void>[]> {
    const target = path.join(area.directory, name);
    if (exists(target)) {
      throw new ApiError(
        "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
        `The manifest for the built-in plugin ${name} cannot be stored, because ${target} already exists. Move or delete ${target}.`,
      );
    }
    const content = await staged.makeContentFolder();
    await staged.writeFile(path.join(content, "manifest.yaml"), `name: ${JSON.stringify(name)}\nenabled: ${enabled}\n`);
    await this.#options.store?.publishFolder(staged, content);
    return await this.#place(staged, content, target);
  }

  /** Deletes the folders of a plugin in one directory. Returns whether the directory contained the plugin. */
  async #takeAway(area: StagingArea, name: string): Promise<boolean> {
    const findHere = () => this.#catalog.find(name)?.uploaded.filter(({ directory }) => directory.path === area.directory) ?? [];
    if (findHere().length === 0) return false;
    return await inTransaction(area, async (staged) => {
      let retiring: Promise<void>[] = [];
      const isAnything = await area.exclusively(async () => {
        const folders = findHere();
        if (folders.length === 0) return false;
        retiring = await this.#takeFolders(
          staged,
          folders.map(({ folder }) => folder),
        );
        return true;
      });
      void Promise.all(retiring).then(() => staged.discard());
      return isAnything;
    });
  }

  /** Removes the folders. Returns promises that resolve when no isolate uses the removed folders. */
  async #takeFolders(staged: Transaction, folders: string[]): Promise<Promise<void>[]> {
    let retiring: Promise<void>[] = [];
    await staged.takeAway(folders, (movedTo) => {
      retiring = folders.map((folder, index) => retireFolder(this.#options, folder, movedTo[index]));
    });
    return retiring;
  }

  /** Returns whether the overriding manifest contains only `enabled` and the built-in plugin itself has this state. */
  #isShippedAs(enabled: boolean, overlay: PluginFolder): boolean {
    const shipped = this.#catalog.find(overlay.name)?.builtIn?.metadata;
    return shipped?.enabled === enabled && isBareSwitch(overlay);
  }

  /** Returns the directory in which the daemon installs new plugins. Rejects with NO_PLUGIN_DIRS. */
  async installArea(): Promise<StagingArea> {
    const area = await this.#areas.forInstalling();
    if (area) return area;
    throw new ApiError(
      "NO_PLUGIN_DIRS",
      "The plugin cannot be installed, because no plugin directory is writable. Add a writable directory to RUNTIME_PLUGIN_DIRS. The name of the directory must not begin with a dot.",
    );
  }

  /** Returns a plugin and the uploaded folder whose manifest contains `enabled`. A built-in plugin can lack this folder. */
  #toggled(name: string): { plugin: InstalledPlugin; own: PluginFolder | undefined } {
    const { plugin, overlay, code } = this.found(name);
    const own = [overlay, code].find((folder) => folder?.directory.source === "uploaded");
    if (!own || hasManifest(own)) return { plugin, own };
    throw new ApiError(
      "PLUGIN_MANIFEST_NOT_FOUND",
      `The plugin ${name} has no manifest.yaml, so it cannot be enabled or disabled. Upload the plugin with a manifest.yaml.`,
    );
  }

  /** Returns a plugin with all its folders. Throws PLUGIN_NOT_FOUND. */
  found(name: string): CatalogedPlugin {
    const found = this.#catalog.find(name);
    if (found) return found;
    throw pluginNotFound(name);
  }
}

const placeOnly: ActivateUpload = async (_upload, place) => {
  await place();
};
