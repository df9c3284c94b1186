import path from "node:path";
import type { PackageDirectory } from "./package-directories.js";
import { listFolders } from "./worker-folders.js";
import { createHash } from "node:crypto";
import { ApiError } from "../../shared/api-error.js";
import { deploymentIn, type Deployment } from "../../shared/deployment.js";
import { latestVersion, isPackageName } from "../../shared/package-name.js";
import { PluginManifest, usualPluginEntries } from "../../shared/plugin-manifest.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { parseManifestFields } from "./manifest-fields.js";
import { pluginFields, type PluginFields } from "../../shared/plugin-fields.js";
import { refuseReservedName, readPackageMetadata } from "./package-metadata.js";
import { statSync } from "node:fs";
import { exists } from "./transactions/journal.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";

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

/** What plugins may not have, or ask for, here. */
export interface PluginRules {
  /** Names that uploads cannot take, and first segments that are no plugin's base. */
  readonly reservedNames: ReadonlySet<string>;
  /** Why an app with this manifest would not be served here. */
  readonly refusal?: ((app: WorkerManifest, name: string) => string | undefined) | undefined;
}

/** Where a plugin's code is, and the manifest that was laid over it, if one was. */
interface PluginLayers {
  readonly code: PluginFolder;
  readonly overlay: PluginFolder | undefined;
}

type Meaning = Pick<InstalledPlugin, "manifest" | "app" | "config">;

/** The plugin that these folders make; one that cannot be used has a `problem`. */
function describePlugin(layers: PluginLayers, rules: PluginRules): InstalledPlugin {
  const shown = layers.overlay ?? layers.code;
  const removable = shown.directory.source === "uploaded";
  const deployment = deploymentIn(shown.metadata?.declared);
  const place = {
    name: shown.name,
    folder: layers.code.folder,
    path: shown.folder,
    source: layers.code.directory.source,
    removable,
    ...(deployment && { deployment }),
  };
  const seemed = { version: shown.metadata?.version ?? latestVersion, enabled: shown.metadata?.enabled ?? true };
  try {
    const fields = fieldsOf(layers);
    Object.assign(seemed, { version: fields.version, enabled: fields.enabled });
    if (removable) refuseReservedName(shown.name, rules.reservedNames);
    const meaning = parsePlugin(fields, rules);
    return { ...place, ...seemed, ...meaning, manifestHash: hashOf([fields.version, meaning.manifest, meaning.app]) };
  } catch (error) {
    const problem = error instanceof ApiError ? error.message : "Its manifest cannot be used.";
    const nothing = { manifest: PluginManifest.parse({}), app: undefined, config: {} };
    return { ...place, ...seemed, ...nothing, manifestHash: hashOf([problem]), problem };
  }
}

/** What a plugin says about itself; throws when its metadata cannot be used. */
export function fieldsOf({ code, overlay }: PluginLayers): PluginFields {
  const problem = overlay?.problem ?? code.problem;
  if (!code.metadata || problem !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", problem ?? "It has no metadata.");
  return pluginFields(code.metadata, overlay?.metadata);
}

/** What a plugin's fields mean; throws `INVALID_PACKAGE_METADATA` that names those at fault. */
export function parsePlugin({ fields }: PluginFields, rules: PluginRules): Meaning {
  const manifest = parseManifestFields(PluginManifest, fields);
  const { base, config } = manifest;
  if (base !== undefined && rules.reservedNames.has(base.slice(1))) {
    throw new ApiError("INVALID_PACKAGE_METADATA", `The base ${base} is reserved for the daemon. Give the plugin another base.`);
  }
  const app = manifest.entrypoint === undefined ? undefined : parseManifestFields(WorkerManifest, fields);
  const refusal = app && rules.refusal?.(app, typeof fields["name"] === "string" ? fields["name"] : "");
  if (refusal !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", refusal);
  return { manifest, app, config };
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A folder with a plugin in it, or with a manifest that is laid over a built-in one. */
export interface PluginFolder {
  readonly directory: PackageDirectory;
  readonly folder: string;
  /** From its metadata; where that cannot be used, from its place. */
  readonly name: string;
  readonly metadata: PackageMetadata | undefined;
  /** Why there is no metadata. */
  readonly problem?: string;
}

/** Undefined for a folder that is no package. */
export function readPluginFolder(directory: PackageDirectory, folder: string): PluginFolder | undefined {
  try {
    const metadata = readPackageMetadata(folder);
    return metadata && { directory, folder, name: metadata.name, metadata };
  } catch (error) {
    const name = path.relative(directory.path, folder).split(path.sep).join("/");
    if (!isPackageName(name)) return undefined;
    const problem = error instanceof ApiError ? error.message : "Its metadata cannot be read.";
    return { directory, folder, name, metadata: undefined, problem };
  }
}

export function hasManifest({ folder }: PluginFolder): boolean {
  return manifestFileNames.some((name) => exists(path.join(folder, name)));
}

/** Whether its manifest holds only `name` and `enabled`, as enabling and disabling a built-in plugin write it. */
export function isBareSwitch({ metadata }: PluginFolder): boolean {
  return metadata !== undefined && Object.keys(metadata.declared ?? {}).every((key) => key === "name" || key === "enabled");
}

/** Whether there is nothing to run in it, so that its manifest can be laid over a built-in plugin. */
export function isBareManifest(plugin: PluginFolder): boolean {
  const { entrypoint, pluginEntry } = plugin.metadata?.fields ?? {};
  if (!hasManifest(plugin) || entrypoint !== undefined) return false;
  const entries = typeof pluginEntry === "string" ? [pluginEntry, ...usualPluginEntries] : usualPluginEntries;
  return !entries.some((entry) => statSync(path.join(plugin.folder, entry), { throwIfNoEntry: false })?.isFile());
}

/** A plugin as it lies on the disk: what the catalog finds and what `plugins` loads. */
export interface InstalledPlugin {
  /** `plugin` or `@team/plugin`. */
  readonly name: string;
  /** Strict semver or `latest`. */
  readonly version: string;
  /** Absolute path; where its code is. */
  readonly folder: string;
  /** The folder that `GET /plugins` shows: another one where a manifest was laid over a built-in plugin. */
  readonly path: string;
  /** Where its code comes from. */
  readonly source: "built-in" | "uploaded";
  /** Whether there is something to delete: the uploaded plugin, or the manifest that overrides a built-in one. */
  readonly removable: boolean;
  readonly enabled: boolean;
  readonly manifest: PluginManifest;
  /** How its app is served; undefined when it has none. */
  readonly app: WorkerManifest | undefined;
  /** What its factory and `ctx.config` get. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Changes whenever the manifest that is in force does, `enabled` aside. */
  readonly manifestHash: string;
  /** Where what is uploaded of it comes from, if it says so. */
  readonly deployment?: Deployment;
  /** Why it cannot be loaded: its manifest cannot be used. */
  readonly problem?: string;
}
