import { readManifest } from "../../shared/manifest-yaml.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import type { PackageKind, PackageSource } from "./package-info.js";

/** Keys that only a plugin's manifest has. */
const pluginKeys = ["pluginEntry", "base", "dependencies", "optionalDependencies", "menus", "config"];
const pluginModules = ["plugin.js", "plugin.mjs"];
const workerFiles = ["index.html", "index.js", "index.mjs", "index.ts"];

/**
 * Worker or plugin: a plugin says so by a key of its manifest that only plugins have, or by its module, plugin.js or plugin.mjs, where
 * nothing is there that a worker starts with.
 */
export async function findPackageKind(source: PackageSource): Promise<PackageKind> {
  const declared = await declaredKeys(source);
  if (pluginKeys.some((key) => declared.has(key))) return "plugin";
  const hasOne = async (files: readonly string[]) => (await Promise.all(files.map(source.isFile))).includes(true);
  if (declared.has("entrypoint") || (await hasOne(workerFiles))) return "worker";
  return (await hasOne(pluginModules)) ? "plugin" : "worker";
}

/** None for a manifest that cannot be read: what is wrong with it is told elsewhere. */
async function declaredKeys(source: PackageSource): Promise<ReadonlySet<string>> {
  for (const file of manifestFileNames) {
    const text = await source.read(file);
    if (text === undefined) continue;
    const fields = Object.entries(readManifest(text).manifest?.fields ?? {});
    return new Set(fields.filter(([, value]) => value !== null).map(([key]) => key));
  }
  return new Set();
}
