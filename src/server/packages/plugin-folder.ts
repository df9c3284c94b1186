import { statSync } from "node:fs";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import { isPackageName } from "../../shared/package-name.js";
import { usualPluginEntries } from "../../shared/plugin-manifest.js";
import { exists } from "./transactions/move-journal.js";
import type { PackageDirectory } from "./package-directories.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import { readPackageMetadata } from "./package-metadata.js";

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
