import path from "node:path";
import { isPackageName, isPackageVersion } from "../../../shared/package-name.js";
import type { Mount, PackageOwner } from "./mounts.js";
import { ApiError } from "../../../shared/api-error.js";
import { parseManifest, positionText } from "../../../shared/manifest-yaml.js";
import { metadataFileNames, type MetadataFileName } from "../../../shared/metadata-file-names.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import { longestBytes, parsePackageMetadata, readMetadataText } from "../package-metadata.js";
import type { FileCaller } from "./file-paths.js";
import { DirectoryHandle } from "./directory-handle.js";

/** The folder of a worker version or of a plugin. Its files can be changed through the file API. */
export interface PackageFolder {
  /** Package directory that contains this folder. */
  readonly directory: string;
  /** The package name that the path of the folder contains. */
  readonly name: string;
  /** Path segments of the folder, relative to `directory`. */
  readonly segments: readonly string[];
  /** Absolute path of the folder. */
  readonly folder: string;
}

/**
 * Finds the package folder in a path below a mount. `depth` is the number of segments up to the package folder. Returns undefined if the
 * path has no package folder.
 */
export type Layout = (below: readonly string[]) => { readonly name: string; readonly depth: number } | undefined;

/** Finds the folder of a worker version in a path below the mount: `name/<version>/…` or `@scope/name/<version>/…`. */
export function workerLayout(below: readonly string[]): ReturnType<Layout> {
  const plain = pluginLayout(below);
  const version = plain && below[plain.depth];
  return plain && version !== undefined && isPackageVersion(version) ? { name: plain.name, depth: plain.depth + 1 } : undefined;
}

/** Finds the folder of a plugin in a path below the mount: `name/…` or `@scope/name/…`. */
export function pluginLayout(below: readonly string[]): ReturnType<Layout> {
  const depth = below[0]?.startsWith("@") ? 2 : 1;
  const name = below.slice(0, depth).join("/");
  return below.length >= depth && isPackageName(name) ? { name, depth } : undefined;
}

export function packageFolderIn(mount: Mount, below: readonly string[], layout: Layout): PackageFolder | undefined {
  const found = layout(below);
  if (!found) return undefined;
  const segments = below.slice(0, found.depth);
  return { directory: mount.path, name: found.name, segments, folder: path.join(mount.path, ...segments) };
}

/** Files that a change adds to a package folder or removes from it. Contains only files directly in the package folder. */
interface RootChange {
  readonly packageFolder: PackageFolder;
  readonly removed?: readonly string[];
  /** Added files by name. Each function calls `read` with the path of its file. The path is valid only during this call. */
  readonly added?: ReadonlyMap<string, (read: (file: string) => void) => void>;
}

/** Returns the text of a metadata file. Returns undefined if the file is missing. Throws if the file is not valid. */
type TextOf = (fileName: MetadataFileName) => string | undefined;

/**
 * Throws if a change gives a package a name outside the caller's namespaces, adds an invalid metadata file, or makes a usable package
 * unusable. Checks every metadata file, because a later change can make another file effective.
 */
export function checkMetadata(owner: PackageOwner, caller: FileCaller, change: RootChange): void {
  const { packageFolder, added = new Map() } = change;
  if (!isMetadataChange(change)) return;
  const before = textsIn(packageFolder);
  const after = textsAfter(change);
  for (const name of metadataFileNames) checkFields(owner, caller, packageFolder, declaredIn(name, after));
  for (const name of metadataFileNames) if (added.has(name)) parsePackageMetadataOf(name, after);
  const wasUsable = problemOf(owner, packageFolder, before) === undefined && metadataIn(before) !== undefined;
  const problem = wasUsable ? problemOf(owner, packageFolder, after) : undefined;
  if (problem !== undefined) throw problem;
}

/** Rejects with ApiError if the plugin in the package folder does not accept its settings after the change. */
export async function checkSettings(owner: PackageOwner, caller: FileCaller, change: RootChange): Promise<void> {
  if (!owner.assertSettings || !isMetadataChange(change)) return;
  const metadata = metadataIn(textsAfter(change));
  // Skips a package without usable metadata. `checkMetadata` handles this case.
  if (!metadata) return;
  caller.assertCovers(metadata.name);
  await owner.assertSettings(change.packageFolder, metadata);
}

function isMetadataChange({ removed = [], added = new Map() }: RootChange): boolean {
  return metadataFileNames.some((name) => removed.includes(name) || added.has(name));
}

function textsAfter({ packageFolder, removed = [], added = new Map() }: RootChange): TextOf {
  const before = textsIn(packageFolder);
  return (name) => (added.has(name) ? addedText(name, added.get(name)) : removed.includes(name) ? undefined : before(name));
}

function checkFields(
  owner: PackageOwner,
  caller: FileCaller,
  packageFolder: PackageFolder,
  fields: Readonly<Record<string, unknown>>,
): void {
  const { name } = fields;
  if (typeof name === "string") caller.assertCovers(name);
  owner.assertAcceptable(packageFolder, fields);
}

/**
 * Returns the fields of a metadata file. Returns no fields for an invalid file, because the daemon then lists the package under the name in
 * its path.
 */
function declaredIn(name: MetadataFileName, textOf: TextOf): Readonly<Record<string, unknown>> {
  try {
    const text = textOf(name);
    if (text === undefined) return {};
    const fields: unknown = name === "package.json" ? JSON.parse(text) : parseManifest(text, name).fields;
    return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Throws if this metadata file is not valid. A missing field is valid, because another metadata file can contain it. */
function parsePackageMetadataOf(name: MetadataFileName, textOf: TextOf): void {
  try {
    parsePackageMetadata((each) => (each === name ? textOf(each) : undefined));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === "INVALID_PACKAGE_METADATA") throw error;
  }
}

function metadataIn(textOf: TextOf): PackageMetadata | undefined {
  try {
    return parsePackageMetadata(textOf);
  } catch {
    return undefined;
  }
}

/**
 * Returns the error with which the daemon would reject the package. Returns undefined if the package is usable or the folder has no
 * metadata.
 */
function problemOf(owner: PackageOwner, packageFolder: PackageFolder, textOf: TextOf): ApiError | undefined {
  try {
    const metadata = parsePackageMetadata(textOf);
    if (metadata) owner.assertUsable(packageFolder, metadata);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return withPlace(error, textOf);
    throw error;
  }
}

/** Adds the line and column of the first invalid field to the message of the error. */
function withPlace(error: ApiError, textOf: TextOf): ApiError {
  const name = metadataFileNames.find((each) => textOf(each) !== undefined);
  const [field] = Array.isArray(error.details) ? (error.details as unknown[]) : [];
  if (name === undefined || name === "package.json" || typeof field !== "string") return error;
  const text = textOf(name) as string;
  const keys = (field.split(":", 1)[0] as string).split(".");
  const node = parseManifest(text, name).document.getIn(keys, true) as { range?: readonly [number, number, number] } | undefined;
  const place = positionText(text, node?.range?.[0]);
  return place === "" ? error : new ApiError(error.code, `${error.message.replace(/\.$/, "")}${place}.`, { details: error.details });
}

function addedText(name: MetadataFileName, reading: ((read: (file: string) => void) => void) | undefined): string | undefined {
  let text: string | undefined;
  reading?.((file) => (text = readMetadataText(file, longestBytes(name), name)));
  return text;
}

function textsIn(packageFolder: PackageFolder): TextOf {
  return (name) => {
    let text: string | undefined;
    withPackageFolder(packageFolder, (folder) => (text = readMetadataText(folder.pathOf(name), longestBytes(name))));
    return text;
  };
}

function withPackageFolder(packageFolder: PackageFolder, work: (folder: DirectoryHandle) => void): void {
  let folder: DirectoryHandle;
  try {
    folder = DirectoryHandle.open(packageFolder.directory, packageFolder.segments);
  } catch {
    // Ignores the error if the package folder cannot be opened, because the change fails with the same error later.
    return;
  }
  try {
    work(folder);
  } finally {
    folder.close();
  }
}
