import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { UploadedFile } from "../../shared/contract/endpoint.js";
import type { InstalledPlugin } from "../installed-plugin.js";
import type { FileChange, PackageKeeper } from "./files/package-keeper.js";
import type { Unit } from "./files/unit.js";
import { archiveFormat } from "./archive-unpacker.js";
import { inStagedFolder } from "./in-staged-folder.js";
import { InstallAreas } from "./install-areas.js";
import { KeyedLock } from "./keyed-lock.js";
import { toggledManifest } from "./manifest-toggle.js";
import { exists } from "./move-journal.js";
import { packageDirectories, type PackageDirectory } from "./package-directories.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { PackageTools } from "./package-tools.js";
import { PluginCatalog, type CatalogedPlugin } from "./plugin-catalog.js";
import { fieldsOf, parsePlugin, type PluginRules } from "./plugin-description.js";
import { hasManifest, isBareManifest, readPluginFolder, type PluginFolder } from "./plugin-folder.js";
import { refuseReservedName } from "./reserved-names.js";
import { runFileChange } from "./run-file-change.js";
import { retireFolder, type Retiring } from "./retire-folder.js";
import type { StagedFolder } from "./staged-folder.js";
import type { StagingArea } from "./staging-area.js";

export interface PluginPackagesOptions extends PluginRules, Retiring {
  /** In order: where a plugin is in two of them, the first counts. Those whose name starts with a dot are part of the image. */
  readonly directories: readonly string[];
  /** Read before all others, never changed. */
  readonly builtInDirectory: string;
  /** Shared with other kinds of packages; closed by whoever made them, after this. */
  readonly tools: PackageTools;
}

/** The installed plugins: what there is, and every way to change it. Loading them is another room's business. */
export class PluginPackages implements PackageKeeper {
  readonly #options: PluginPackagesOptions;
  readonly #areas: InstallAreas;
  readonly #catalog: PluginCatalog;
  readonly #locks = new KeyedLock();

  /** Finishes or undoes what a crash left in the directories. */
  static async open(options: PluginPackagesOptions): Promise<PluginPackages> {
    const directories = packageDirectories(options.builtInDirectory, options.directories);
    const areas = await InstallAreas.open({ directories, remover: options.tools.remover, log: options.log });
    return new PluginPackages(options, directories, areas);
  }

  private constructor(options: PluginPackagesOptions, directories: readonly PackageDirectory[], areas: InstallAreas) {
    this.#options = options;
    this.#areas = areas;
    this.#catalog = new PluginCatalog(directories, options);
  }

  /** All plugins, by name, as the disk has them now. */
  discover(): InstalledPlugin[] {
    return this.#catalog.list();
  }

  /** Whether there is a directory to install to. */
  async canInstall(): Promise<boolean> {
    return (await this.#areas.forInstalling()) !== undefined;
  }

  /**
   * Installs an archive in place of the plugin of that name and deletes its file. `authorise` is called as soon as the name is known
   * and before anything shows; when it throws, nothing has changed. Answers when `discover` gives the new one.
   */
  async install(file: UploadedFile, authorise: (name: string) => void): Promise<{ name: string; version: string; installedAt: string }> {
    const format = archiveFormat(file.filename);
    const area = await this.#installArea();
    return await inStagedFolder(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const { root, metadata } = await this.#options.tools.unpacker.unpack(file, format, content);
      const { name } = metadata;
      refuseReservedName(name, this.#options.reservedNames);
      authorise(name);
      return await this.#locks.run(name, async () => {
        const from = path.join(content, root);
        const version = this.#acceptedVersion({ directory: { path: area.directory, source: "uploaded" }, folder: from, name, metadata });
        const installedAt = path.join(area.directory, name);
        await this.#place(staged, from, installedAt);
        return { name, version, installedAt };
      });
    });
  }

  /** Lets a plugin take part, or not any more; the flag is written to its manifest, for a built-in one to a manifest laid over it. */
  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#locks.run(name, async () => {
      const found = this.#found(name);
      const { plugin } = found;
      const own = [found.overlay, found.code].find((folder) => folder?.directory.source === "uploaded");
      if (own && !hasManifest(own)) {
        throw new ApiError(
          "PLUGIN_MANIFEST_NOT_FOUND",
          `${name} has no manifest.yaml. Upload it with one that says whether it is enabled.`,
        );
      }
      if (plugin.enabled === enabled && plugin.problem === undefined) return;
      if (own) await this.#writeFlag(own, enabled);
      else await this.#layOver(name, enabled);
    });
  }

  /** Deletes what is uploaded under that name; a built-in plugin that it was laid over is as it was shipped again. */
  async remove(name: string): Promise<void> {
    await this.#locks.run(name, async () => {
      const { plugin, uploaded } = this.#found(name);
      if (plugin.source === "built-in")
        throw new ApiError("BUILT_IN_PLUGIN_REMOVE_FORBIDDEN", `${name} is built in and cannot be deleted.`);
      for (const area of this.#areas.all()) {
        const targets = uploaded.filter(({ directory }) => directory.path === area.directory).map(({ folder }) => folder);
        if (targets.length > 0) await this.#takeAway(area, targets);
      }
    });
  }

  async changeFiles(units: readonly Unit[], change: FileChange): Promise<void> {
    const renew = ({ folder }: Unit, movedTo: string | undefined) =>
      movedTo === undefined ? [] : [retireFolder(this.#options, folder, movedTo)];
    await runFileChange({ areas: this.#areas, locks: this.#locks, renew }, units, change);
  }

  namesIn({ directory, folder }: Unit): string[] {
    const found = readPluginFolder({ path: directory, source: "uploaded" }, folder);
    return found ? [found.name] : [];
  }

  assertAcceptable(unit: Unit, { name = unit.name, base }: Readonly<Record<string, unknown>>): void {
    if (typeof name !== "string") return;
    refuseReservedName(name, this.#options.reservedNames);
    if (typeof base === "string") this.#refuseTakenBase(name, base);
  }

  /** What is not deleted yet goes at the next start. */
  async close(): Promise<void> {
    await this.#areas.settled();
  }

  /** The version that is in force once this is installed; throws when it may not be. */
  #acceptedVersion(candidate: PluginFolder & { metadata: PackageMetadata }): string {
    const { name, metadata } = candidate;
    this.#refuseTakenBase(name, parsePlugin(fieldsOf({ code: candidate, overlay: undefined }), this.#options).manifest.base);
    const builtIn = this.#catalog.find(name)?.builtIn;
    if (!builtIn) return metadata.version;
    if (!isBareManifest(candidate)) {
      throw new ApiError(
        "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
        `${name} is built in, and its code cannot be replaced. Send a manifest.yaml alone to change its settings, or give the plugin another name.`,
      );
    }
    const fields = fieldsOf({ code: builtIn, overlay: candidate });
    parsePlugin(fields, this.#options);
    return fields.version;
  }

  /** Who would load first at the next start must not depend on names: a base that another plugin claims, enabled or not, is its own. */
  #refuseTakenBase(name: string, base: string | undefined): void {
    if (base === undefined || !this.#catalog.list().some((plugin) => plugin.name !== name && plugin.manifest.base === base)) return;
    throw new ApiError("INVALID_PACKAGE_METADATA", `The base ${base} is taken by another plugin. Give this one another base.`);
  }

  async #place(staged: StagedFolder, from: string, target: string): Promise<void> {
    let retiring: Promise<void> | undefined;
    await staged.place({ from, target }, (movedTo) => {
      if (movedTo !== undefined) retiring = retireFolder(this.#options, target, movedTo);
    });
    const cleaned = Promise.resolve(retiring).then(() => staged.discard());
    // What runs from the old folder may take its time.
    if (retiring === undefined) await cleaned;
  }

  async #writeFlag({ directory, folder }: PluginFolder, enabled: boolean): Promise<void> {
    await inStagedFolder(this.#areas.of(directory.path), async (staged) => {
      const { filePath, text } = toggledManifest(folder, enabled);
      await staged.writeFile(filePath, text, () => undefined);
      void staged.discard();
    });
  }

  async #layOver(name: string, enabled: boolean): Promise<void> {
    const area = await this.#installArea();
    const target = path.join(area.directory, name);
    if (exists(target)) {
      throw new ApiError(
        "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
        `${target} is in the way of a manifest for ${name}, which is built in. Move it away.`,
      );
    }
    await inStagedFolder(area, async (staged) => {
      const content = await staged.makeContentFolder();
      const text = `name: ${JSON.stringify(name)}\nenabled: ${enabled}\n`;
      await staged.writeFile(path.join(content, "manifest.yaml"), text, () => undefined);
      await this.#place(staged, content, target);
    });
  }

  async #takeAway(area: StagingArea, targets: readonly string[]): Promise<void> {
    await inStagedFolder(area, async (staged) => {
      await staged.takeAway(targets, (movedTo) => {
        const retiring = targets.map((target, index) => retireFolder(this.#options, target, movedTo[index]));
        void Promise.all(retiring).then(() => staged.discard());
      });
    });
  }

  async #installArea(): Promise<StagingArea> {
    const area = await this.#areas.forInstalling();
    if (area) return area;
    throw new ApiError(
      "NO_PLUGIN_DIRS",
      "None of the plugin directories can be installed to. Make one of RUNTIME_PLUGIN_DIRS writable for the daemon; its name must not start with a dot.",
    );
  }

  #found(name: string): CatalogedPlugin {
    const found = this.#catalog.find(name);
    if (found) return found;
    throw new ApiError("PLUGIN_NOT_FOUND", `No plugin named ${name} is installed.`);
  }
}
