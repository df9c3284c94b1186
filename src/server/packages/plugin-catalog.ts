import path from "node:path";
import type { InstalledPlugin } from "./installed-plugin.js";
import type { PackageDirectory } from "./package-directories.js";
import { describePlugin, type PluginLayers, type PluginRules } from "./plugin-description.js";
import { isBareManifest, readPluginFolder, type PluginFolder } from "./plugin-folder.js";
import { listFolders } from "./worker-folders.js";

/** Everything that lies there under one name, and what it comes to. */
export interface CatalogedPlugin extends PluginLayers {
  readonly plugin: InstalledPlugin;
  /** All that is uploaded under this name, also where something else is used instead. */
  readonly uploaded: readonly PluginFolder[];
  readonly builtIn: PluginFolder | undefined;
}

/**
 * What is installed, read from the disk each time: plugins are few. Of two folders with the same name the earlier directory's counts;
 * within one, `<name>` as uploads make it. A bare manifest is laid over a built-in plugin of its name.
 */
export class PluginCatalog {
  readonly #directories: readonly PackageDirectory[];
  readonly #rules: PluginRules;

  constructor(directories: readonly PackageDirectory[], rules: PluginRules) {
    this.#directories = directories;
    this.#rules = rules;
  }

  /** By name. */
  list(): InstalledPlugin[] {
    const names = new Map<string, PluginFolder[]>();
    for (const found of this.#folders()) names.set(found.name, [...(names.get(found.name) ?? []), found]);
    const plugins = [...names.values()].map((found) => describePlugin(layersOf(found), this.#rules));
    return plugins.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): CatalogedPlugin | undefined {
    const found = this.#folders().filter((folder) => folder.name === name);
    if (found.length === 0) return undefined;
    const layers = layersOf(found);
    return {
      ...layers,
      plugin: describePlugin(layers, this.#rules),
      uploaded: found.filter(({ directory }) => directory.source === "uploaded"),
      builtIn: found.find(({ directory }) => directory.source === "built-in"),
    };
  }

  /** In the order in which they count. */
  #folders(): PluginFolder[] {
    return this.#directories.flatMap((directory) => {
      const folders = listFolders(directory.path, directory.path).flatMap((folder) =>
        path.basename(folder).startsWith("@") ? listFolders(folder, directory.path) : [folder],
      );
      const found = folders.flatMap((folder) => readPluginFolder(directory, folder) ?? []);
      return found.toSorted((a, b) => Number(isInPlace(b)) - Number(isInPlace(a)));
    });
  }
}

function isInPlace({ directory, folder, name }: PluginFolder): boolean {
  return folder === path.join(directory.path, name);
}

/** `found` is not empty. */
function layersOf(found: readonly PluginFolder[]): PluginLayers {
  const [first] = found as [PluginFolder];
  const builtIn = found.find(({ directory }) => directory.source === "built-in");
  if (!builtIn) return { code: first, overlay: undefined };
  const overlay = found.find(
    (folder) => folder.directory.source === "uploaded" && (folder === first || first === builtIn) && isBareManifest(folder),
  );
  return overlay || first === builtIn ? { code: builtIn, overlay } : { code: first, overlay: undefined };
}
