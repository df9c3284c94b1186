import { ApiError } from "../../shared/api-error.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import { enabledOf, nameOf, versionOf } from "../../shared/package-metadata.js";
import { assetsDirectoryOf, usualEntrypoints } from "../../shared/packing/main-files.js";
import { PackageJson } from "../../shared/packing/package-json.js";
import type { ReadText } from "../../shared/packing/read-text.js";

/** Name, version and contents of a package. The panel determines them by the same rules as the daemon. */
export interface PackageInfo {
  readonly name: string;
  readonly version: string;
  readonly isEnabled: boolean;
  /** File that serves requests: an HTML page or a module. Undefined if the package contains no such file. */
  readonly entrypoint: string | undefined;
  readonly assetsDirectory: string | undefined;
  /**
   * Path of the plugin module. Undefined if the package has no plugin module, such as a manifest that only configures a built-in plugin.
   */
  readonly pluginEntry: string | undefined;
  readonly packageJson: PackageJson | undefined;
  /** Names of the metadata files in the package, such as `manifest.yaml`. */
  readonly metadataFiles: readonly string[];
  /** Whether the manifest has a field that only plugins have. */
  readonly isPlugin: boolean;
}

export type PackageKind = "worker" | "plugin";

export interface PackageText {
  readonly read: ReadText;
  readonly isFile: (path: string) => Promise<boolean>;
}

/** Manifest fields that only plugins have. */
const pluginKeys = ["pluginEntry", "base", "dependencies", "optionalDependencies", "menus", "config"];

/** Reads the package info from the metadata files. Throws the daemon's error for missing or invalid metadata. */
export async function readPackageInfo(text: PackageText, kind: PackageKind): Promise<PackageInfo> {
  const manifest = await readManifest(text.read);
  const written = await text.read("package.json");
  const packageJson = written === undefined ? undefined : parsePackageJson(written);
  const fields = { name: packageJson?.name, version: packageJson?.version, ...manifest?.fields };
  return {
    name: nameOf(fields),
    version: versionOf(fields, undefined),
    isEnabled: enabledOf(fields),
    entrypoint: await firstFile(text, entrypoints(kind, manifest?.fields["entrypoint"], packageJson?.main)),
    assetsDirectory: assetsDirectoryOf(manifest?.fields["assets"]),
    pluginEntry: kind === "plugin" ? await findPluginEntry(text, manifest?.fields["pluginEntry"]) : undefined,
    packageJson,
    metadataFiles: [...(manifest ? [manifest.file] : []), ...(packageJson ? ["package.json"] : [])],
    isPlugin: pluginKeys.some((key) => manifest?.fields[key] !== undefined),
  };
}

async function readManifest(read: ReadText): Promise<{ file: string; fields: Record<string, unknown> } | undefined> {
  for (const file of manifestFileNames) {
    const text = await read(file);
    if (text === undefined) continue;
    // Loads the manifest parser on demand, because its code is large.
    const { parseManifest } = await import("../../shared/manifest-yaml.js");
    const { fields } = parseManifest(text, file);
    return { file, fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) };
  }
  return undefined;
}

function parsePackageJson(text: string): PackageJson {
  try {
    return PackageJson.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch (cause) {
    throw new ApiError("INVALID_PACKAGE_METADATA", "package.json cannot be used: it is not a JSON object.", { cause });
  }
}

/** Returns the possible entrypoints in search order. A plugin has an entrypoint only if its manifest declares one. */
function entrypoints(kind: PackageKind, declared: unknown, main: string | undefined): readonly string[] {
  if (typeof declared === "string") return [withoutDot(declared)];
  return kind === "plugin" ? [] : usualEntrypoints(main === undefined ? undefined : withoutDot(main));
}

async function findPluginEntry(text: PackageText, declared: unknown): Promise<string | undefined> {
  if (typeof declared === "string") return firstFile(text, [withoutDot(declared)]);
  // Loads this module on demand, because it contains the large schema of plugin manifests.
  const { usualPluginEntries } = await import("../../shared/plugin-manifest.js");
  return firstFile(text, usualPluginEntries);
}

async function firstFile({ isFile }: PackageText, candidates: readonly string[]): Promise<string | undefined> {
  for (const candidate of candidates) if (await isFile(candidate)) return candidate;
  return undefined;
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "");
}
