import path from "node:path";
import type { PackageDirectory } from "./package-directories.js";
import { listPackageFolders } from "./worker-folders.js";
import { createHash } from "node:crypto";
import { ApiError } from "../../shared/api-error.js";
import { deploymentIn, type Deployment } from "../../shared/deployment.js";
import { latestVersion, isPackageName } from "../../shared/package-name.js";
import { completedSettings } from "../../shared/config-schema.js";
import { PluginManifest, usualPluginEntries } from "../../shared/plugin-manifest.js";
import { PluginAppManifest, type WorkerManifest } from "../../shared/worker-manifest.js";
import { parseManifestFields } from "./manifest-fields.js";
import { pluginFields, type PluginFields } from "../../shared/plugin-fields.js";
import { metadataProblem, refuseReservedName, readPackageMetadata } from "./package-metadata.js";
import { statSync } from "node:fs";
import { exists } from "./transactions/journal.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";

/** An installed plugin, with all folders that contain a plugin of the same name. */
export interface CatalogedPlugin extends PluginLayers {
  readonly plugin: InstalledPlugin;
  /** All uploaded folders of plugins with this name. The daemon uses only some of them. */
  readonly uploaded: readonly PluginFolder[];
  readonly builtIn: PluginFolder | undefined;
}

/**
 * The installed plugins. Reads the disk at each call, because there are few plugins. For one plugin name, the earliest directory has
 * precedence, then the folder with this name. A manifest without code overrides a built-in plugin.
 */
export class PluginCatalog {
  readonly #directories: readonly PackageDirectory[];
  readonly #rules: PluginRules;
  readonly #missing: () => readonly PluginFolder[];

  /** `missing` returns installed plugins whose folders do not exist. */
  constructor(directories: readonly PackageDirectory[], rules: PluginRules, missing: () => readonly PluginFolder[]) {
    this.#directories = directories;
    this.#rules = rules;
    this.#missing = missing;
  }

  /** Returns the plugins, sorted by name. With `upload`, returns the plugins as they will be after the upload is moved to its target. */
  list(upload?: StagedPlugin): InstalledPlugin[] {
    const names = new Map<string, PluginFolder[]>();
    for (const found of this.#folders(upload)) names.set(found.name, [...(names.get(found.name) ?? []), found]);
    const plugins = [...names.values()].map((found) => describePlugin(layersOf(found), this.#rules));
    return plugins.map((plugin) => (upload ? asPlaced(plugin, upload) : plugin)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
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

  /**
   * Returns all plugin folders in all directories. Among folders with the same plugin name, the folder with the highest precedence is
   * first.
   */
  #folders(upload?: StagedPlugin): PluginFolder[] {
    const missing = this.#missing();
    return this.#directories.flatMap((directory) => {
      const onDisk = listPackageFolders(directory.path).flatMap((folder) => readPluginFolder(directory, folder) ?? []);
      const found = [...onDisk, ...missing.filter((plugin) => plugin.directory.path === directory.path)];
      const sorted = found.toSorted((a, b) => Number(isInPlace(b)) - Number(isInPlace(a)));
      if (upload?.directory.path !== directory.path) return sorted;
      return [upload, ...sorted.filter(({ folder }) => folder !== upload.target)];
    });
  }
}

function isInPlace({ directory, folder, name }: PluginFolder): boolean {
  return folder === path.join(directory.path, name);
}

/** Returns a plugin with the paths after the upload has been moved from its staging folder to its target. */
function asPlaced(plugin: InstalledPlugin, { folder, target }: StagedPlugin): InstalledPlugin {
  const isCode = plugin.folder === folder;
  return {
    ...plugin,
    folder: isCode ? target : plugin.folder,
    path: plugin.path === folder ? target : plugin.path,
    ...(isCode && { stagedFolder: folder }),
  };
}

/**
 * Returns the folder with the code and the folder whose manifest overrides the code's manifest. All folders in `found` must have the same
 * plugin name. `found` must not be empty.
 */
function layersOf(found: readonly PluginFolder[]): PluginLayers {
  const [first] = found as [PluginFolder];
  const builtIn = found.find(({ directory }) => directory.source === "built-in");
  if (!builtIn) return { code: first, overlay: undefined };
  const overlay = found.find(
    (folder) => folder.directory.source === "uploaded" && (folder === first || first === builtIn) && isBareManifest(folder),
  );
  return overlay || first === builtIn ? { code: builtIn, overlay } : { code: first, overlay: undefined };
}

/** Rules that decide which plugins this daemon accepts. */
export interface PluginRules {
  /** Reserved names. An uploaded plugin cannot have such a name, and no plugin can have such a base path (`/NAME`). */
  readonly reservedNames: ReadonlySet<string>;
  /**
   * Returns the reason why this daemon would reject a worker with this manifest. Returns undefined if the daemon would serve the worker.
   */
  readonly refusal?: ((app: WorkerManifest, name: string) => string | undefined) | undefined;
}

/** The folder with a plugin's code, and the folder whose manifest overrides the plugin's own manifest. */
interface PluginLayers {
  readonly code: PluginFolder;
  readonly overlay: PluginFolder | undefined;
}

type Meaning = Pick<InstalledPlugin, "manifest" | "app" | "config">;

/** Returns the plugin in these folders. If the daemon cannot load the plugin, its field `problem` contains the reason. */
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
    const problem = error instanceof ApiError ? error.message : "The manifest of the plugin cannot be used.";
    const nothing = { manifest: PluginManifest.parse({}), app: undefined, config: {} };
    return { ...place, ...seemed, ...nothing, manifestHash: hashOf([problem]), problem };
  }
}

/**
 * Returns the metadata fields of the plugin. Fields of the overriding manifest have precedence. Throws INVALID_PACKAGE_METADATA if the
 * metadata is not valid.
 */
export function fieldsOf({ code, overlay }: PluginLayers): PluginFields {
  const problem = overlay?.problem ?? code.problem;
  if (!code.metadata || problem !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", problem ?? "The plugin has no metadata.");
  return pluginFields(code.metadata, overlay?.metadata);
}

/** Parses the fields of a plugin. Throws `INVALID_PACKAGE_METADATA` and names the invalid fields. */
export function parsePlugin({ fields }: PluginFields, rules: PluginRules): Meaning {
  const parsed = parseManifestFields(PluginManifest, fields);
  const manifest = { ...parsed, config: checkedConfig(parsed) };
  const { base, config } = manifest;
  if (base !== undefined && rules.reservedNames.has(base.slice(1))) {
    throw new ApiError("INVALID_PACKAGE_METADATA", `The base path ${base} is reserved for the daemon. Choose another base path.`);
  }
  const app = manifest.entrypoint === undefined ? undefined : parseManifestFields(PluginAppManifest, fields);
  const refusal = app && rules.refusal?.(app, typeof fields["name"] === "string" ? fields["name"] : "");
  if (refusal !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", refusal);
  return { manifest, app, config };
}

/**
 * Returns the configuration, completed by the defaults in the plugin's schema. Throws INVALID_PACKAGE_METADATA if the configuration does
 * not match the schema.
 */
function checkedConfig({ config, configSchema }: PluginManifest): PluginManifest["config"] {
  if (!configSchema) return config;
  const completed = completedSettings(configSchema, config);
  const faults = completed.faults.map(({ path: keys, message }) => `${keys.join(".")}: ${message}`);
  if (faults.length === 0) return completed.settings as PluginManifest["config"];
  throw new ApiError(
    "INVALID_PACKAGE_METADATA",
    `The plugin's configuration does not match its configSchema. ${faults.slice(0, 5).join("; ")}.`,
    {
      details: faults.slice(0, 50),
    },
  );
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A folder with a plugin, or with a manifest that overrides a built-in plugin. */
export interface PluginFolder {
  readonly directory: PackageDirectory;
  readonly folder: string;
  /** Name in the metadata. If the metadata is not valid, the name in the path of the folder. */
  readonly name: string;
  readonly metadata: PackageMetadata | undefined;
  /** Reason why the metadata is not valid or the folder does not exist. Undefined for valid metadata. */
  readonly problem?: string;
}

/** An upload that is unpacked in its staging folder. */
export interface StagedPlugin extends PluginFolder {
  /** Absolute path to which the daemon will move the staging folder. */
  readonly target: string;
}

/** Reads a plugin from a folder. Returns undefined if the folder contains no package. */
export function readPluginFolder(directory: PackageDirectory, folder: string): PluginFolder | undefined {
  try {
    const metadata = readPackageMetadata(folder);
    return metadata && { directory, folder, name: metadata.name, metadata };
  } catch (error) {
    const name = path.relative(directory.path, folder).split(path.sep).join("/");
    if (!isPackageName(name)) return undefined;
    return { directory, folder, name, metadata: undefined, problem: metadataProblem(error) };
  }
}

export function hasManifest({ folder }: PluginFolder): boolean {
  return manifestFileNames.some((name) => exists(path.join(folder, name)));
}

/**
 * Returns whether a manifest contains only `name` and `enabled`. The daemon writes this manifest when the operator enables or disables a
 * built-in plugin.
 */
export function isBareSwitch({ metadata }: PluginFolder): boolean {
  return metadata !== undefined && Object.keys(metadata.declared ?? {}).every((key) => key === "name" || key === "enabled");
}

/** Returns whether the folder has a manifest but no code. The manifest can then override a built-in plugin. */
export function isBareManifest(plugin: PluginFolder): boolean {
  const { entrypoint, pluginEntry } = plugin.metadata?.fields ?? {};
  if (!hasManifest(plugin) || entrypoint !== undefined) return false;
  const entries = typeof pluginEntry === "string" ? [pluginEntry, ...usualPluginEntries] : usualPluginEntries;
  return !entries.some((entry) => statSync(path.join(plugin.folder, entry), { throwIfNoEntry: false })?.isFile());
}

/** A plugin on the disk. The catalog finds plugins, and the code in `src/server/plugins` loads them. */
export interface InstalledPlugin {
  /** Package name, such as `plugin` or `@team/plugin`. */
  readonly name: string;
  /** Version of the plugin: strict semver or `latest`. */
  readonly version: string;
  /** Absolute path of the folder with the plugin's code. */
  readonly folder: string;
  /** Staging folder that contains the code before the upload is moved to `folder`. */
  readonly stagedFolder?: string;
  /** Folder in the response of `GET /plugins`. If a manifest overrides a built-in plugin, this is the folder of the manifest. */
  readonly path: string;
  /** Whether the plugin's code is built in or was uploaded. */
  readonly source: "built-in" | "uploaded";
  /** True if the operator can delete an uploaded part: the plugin itself, or the manifest that overrides a built-in plugin. */
  readonly removable: boolean;
  readonly enabled: boolean;
  readonly manifest: PluginManifest;
  /** Manifest of the worker that the plugin contains. Undefined if the plugin has no worker. */
  readonly app: WorkerManifest | undefined;
  /** Settings of the plugin. The daemon passes them to the factory function of the plugin and as `ctx.config`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Hash of the version and the effective manifest without `enabled`. */
  readonly manifestHash: string;
  /** Deployment record in the manifest of the uploaded package, if present. */
  readonly deployment?: Deployment;
  /** Reason why the plugin cannot be loaded, such as an invalid manifest. */
  readonly problem?: string;
}

export function pluginNotFound(name: string): ApiError {
  return new ApiError("PLUGIN_NOT_FOUND", `No plugin named ${name} is installed.`);
}
