import { stat } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { normalHostName } from "../../shared/host-name.js";
import { longestManifestBytes, readManifest as readYaml } from "../../shared/manifest-yaml.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import { isPackageName, isPackageVersion, latestVersion } from "../../shared/package-name.js";
import { PackageJson } from "../../shared/packing/package-json.js";
import { assetsDirectoryOf, usualEntrypoints } from "../../shared/packing/main-files.js";
import { usualPluginEntries } from "../../shared/plugin-manifest.js";
import { CommandError } from "../command/command-error.js";
import { readFileIfThere } from "../config/read-file-if-there.js";
import { exitCodes } from "../command/exit-codes.js";
import type { ArchiveContent } from "./archive-content.js";
import { validationMessage } from "../../shared/validation-message.js";

const Manifest = z.object({
  name: z.unknown().optional(),
  version: z.unknown().optional(),
  entrypoint: z.string().optional(),
  pluginEntry: z.string().optional(),
  // Ignores an invalid host name here, because the validation reports it with its position in the file.
  hosts: z.array(z.string()).optional().catch(undefined),
  assets: z.unknown().optional(),
});

export type PackageKind = "worker" | "plugin";

/** The metadata of a worker or plugin package. */
export interface PackageInfo {
  readonly name: string;
  readonly version: string;
  /** Whether the command line or the manifest sets the version. False if only package.json contains a version. */
  readonly hasDeclaredVersion?: boolean;
  /** Names of the existing metadata files: the manifest and package.json. */
  readonly metadataFiles: readonly string[];
  readonly packageJson: PackageJson | undefined;
  /** Path of the file to serve or run, relative to the package folder, with forward slashes. Undefined if no such file exists. */
  readonly entrypoint: string | undefined;
  /** Path of the plugin module. Undefined for a worker, and for a manifest that only configures a built-in plugin. */
  readonly pluginEntry?: string | undefined;
  /** Folder with the static files of a worker module, without a trailing slash. */
  readonly assetsDirectory?: string | undefined;
  /** Host names that a worker requests, in the normal form in which the daemon compares host names. */
  readonly hosts?: readonly string[];
}

/** Access to the files of a package, which is a folder or an archive. */
export interface PackageSource {
  /** Name of the folder or archive in messages. */
  readonly label: string;
  /** Returns the text of a file. The path has forward slashes. Undefined if the file does not exist. */
  readonly read: (file: string) => Promise<string | undefined>;
  readonly isFile: (file: string) => Promise<boolean>;
}

export function folderSource(folder: string): PackageSource {
  return {
    label: folder,
    read: async (file) => readFileIfThere(path.join(folder, file)),
    isFile: (file) => isFile(path.join(folder, file)),
  };
}

/** Whether a package contains at least one of the files. A path that leads out of the package folder never matches. */
export async function isAnyFile(source: PackageSource, files: readonly string[]): Promise<boolean> {
  for (const file of files) if (!file.startsWith("..") && (await source.isFile(file))) return true;
  return false;
}

export function archiveSource(label: string, { files, metadata }: ArchiveContent): PackageSource {
  const paths = new Set(files.map((file) => file.path));
  return { label, read: (file) => Promise.resolve(metadata.get(file)), isFile: (file) => Promise.resolve(paths.has(file)) };
}

/** Name and version from `--name` and `--version`. They override the manifest. */
export type PackageIdentity = Partial<Pick<PackageInfo, "name" | "version">>;

/** Reads name, version and entrypoint of a package with the daemon's rules. Throws for metadata that the daemon would reject. */
export async function readPackageInfo(
  source: PackageSource,
  kind: PackageKind = "worker",
  given: PackageIdentity = {},
): Promise<PackageInfo> {
  const manifest = await readManifest(source);
  const packageJson = await readPackageJson(source);
  const name = given.name ?? manifest?.fields.name ?? packageJson?.name;
  const version = given.version ?? manifest?.fields.version ?? packageJson?.version ?? latestVersion;
  if (name === undefined) {
    const metadataFile = manifest?.file ?? (packageJson && "package.json");
    const isEmpty = kind === "worker" && metadataFile === undefined && !(await isAnyFile(source, usualEntrypoints(undefined)));
    throw isEmpty ? nothingToDeploy("MISSING_PACKAGE_NAME", source.label) : noName(source.label, metadataFile);
  }
  if (typeof name !== "string" || !isPackageName(name))
    throw refused(
      "INVALID_PACKAGE_NAME",
      `${JSON.stringify(name)} is not a valid package name`,
      "use lower-case letters, digits, - . _, optionally with a scope, such as @scope/hello",
    );
  if (typeof version !== "string" || !isPackageVersion(version)) throw badVersion(version);
  return {
    name,
    version,
    hasDeclaredVersion: (given.version ?? manifest?.fields.version ?? undefined) !== undefined,
    packageJson,
    metadataFiles: [...(manifest ? [manifest.file] : []), ...(packageJson ? ["package.json"] : [])],
    ...(kind === "worker"
      ? {
          entrypoint: await findEntrypoint(source, manifest, packageJson),
          assetsDirectory: assetsDirectoryOf(manifest?.fields.assets),
          hosts: hostsOf(manifest),
        }
      : { entrypoint: await declaredFile(source, manifest, "entrypoint"), pluginEntry: await findPluginEntry(source, manifest) }),
  };
}

function hostsOf(manifest: ManifestFile | undefined): string[] {
  return (manifest?.fields.hosts ?? []).flatMap((text) => normalHostName(text) ?? []);
}

type ManifestFile = { readonly file: string; readonly fields: z.output<typeof Manifest> };

async function readManifest(source: PackageSource): Promise<ManifestFile | undefined> {
  for (const file of manifestFileNames) {
    const text = await source.read(file);
    if (text === undefined) continue;
    if (Buffer.byteLength(text) > longestManifestBytes) throw unreadable(file, "it is larger than 64 kB");
    const { manifest, faults } = readYaml(text);
    if (!manifest) throw unreadable(file, `${faults[0].message}${positionText(text, faults[0].offset)}`);
    const parsed = Manifest.safeParse(dropNulls(manifest.fields), { error: validationMessage });
    if (!parsed.success) throw unreadable(file, z.prettifyError(parsed.error));
    return { file, fields: parsed.data };
  }
  return undefined;
}

/** Returns a position as text for a message, such as ` at line 3, column 1`. Empty if the position is unknown. */
function positionText(text: string, offset: number | undefined): string {
  if (offset === undefined) return "";
  const lines = text.slice(0, offset).split("\n");
  return ` at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

async function readPackageJson(source: PackageSource): Promise<PackageJson | undefined> {
  const text = await source.read("package.json");
  if (text === undefined) return undefined;
  try {
    return PackageJson.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch (error) {
    throw unreadable("package.json", error instanceof SyntaxError ? error.message : "it is not a JSON object");
  }
}

function dropNulls<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as Fields;
}

async function findEntrypoint(
  source: PackageSource,
  manifest: ManifestFile | undefined,
  packageJson: PackageJson | undefined,
): Promise<string | undefined> {
  const declared = await declaredFile(source, manifest, "entrypoint");
  if (declared !== undefined) return declared;
  const main = packageJson?.main === undefined ? undefined : path.posix.normalize(packageJson.main);
  for (const candidate of usualEntrypoints(main)) if (!candidate.startsWith("..") && (await source.isFile(candidate))) return candidate;
  return undefined;
}

async function findPluginEntry(source: PackageSource, manifest: ManifestFile | undefined): Promise<string | undefined> {
  const declared = await declaredFile(source, manifest, "pluginEntry");
  if (declared !== undefined) return declared;
  for (const candidate of usualPluginEntries) if (await source.isFile(candidate)) return candidate;
  return undefined;
}

/**
 * Returns the path of the file that a manifest field names. Undefined if the manifest does not set the field. Throws if the file does not
 * exist.
 */
async function declaredFile(
  source: PackageSource,
  manifest: ManifestFile | undefined,
  key: "entrypoint" | "pluginEntry",
): Promise<string | undefined> {
  const declared = manifest?.fields[key];
  if (declared === undefined) return undefined;
  const file = path.posix.normalize(declared);
  if (file.startsWith("../") || path.posix.isAbsolute(file))
    throw unreadable(manifest?.file ?? "manifest", `its ${key} ${declared} is outside of the folder`);
  if (await source.isFile(file)) return file;
  throw refused(
    "ENTRYPOINT_NOT_FOUND",
    `the ${key} ${declared} does not exist`,
    `build the package first, or correct ${key} in the manifest`,
  );
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** Returns the error for a folder that contains neither package metadata nor a file to serve. */
export function nothingToDeploy(code: string, folder: string): CommandError {
  const message = `${folder} has nothing to deploy: no manifest, package.json, index.html or index.js`;
  return refused(code, message, "to create a project: runtimectl init NAME");
}

function noName(folder: string, metadataFile: string | undefined): CommandError {
  if (metadataFile === undefined)
    return refused("MISSING_PACKAGE_NAME", `${folder} has neither manifest.yaml nor package.json`, "echo 'name: hello' > manifest.yaml");
  return refused("MISSING_PACKAGE_NAME", `${path.join(folder, metadataFile)} does not declare a name`, "add a line such as name: hello");
}

function badVersion(version: unknown): CommandError {
  const hint =
    typeof version === "number"
      ? `quote the version and use three parts: version: "${version}.0"`
      : "use three parts, such as 1.2.0, or remove the version";
  return refused("INVALID_PACKAGE_VERSION", `${JSON.stringify(version)} is not a version`, hint);
}

function unreadable(file: string, problem: string): CommandError {
  return refused("INVALID_PACKAGE_METADATA", `${file} is not valid: ${problem}`);
}

function refused(code: string, message: string, hint?: string): CommandError {
  return new CommandError(code, message, { exitCode: exitCodes.failed, hint });
}
