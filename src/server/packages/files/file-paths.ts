import { relative, sep } from "node:path";
import { shown } from "../../../shared/archive/refusal.js";
import type { PackageOwner, Mount } from "./mounts.js";
import { notFound, notWritable } from "./file-transaction.js";
import { packageFolderIn, type Layout, type PackageFolder } from "./package-folder.js";
import { ApiError } from "../../../shared/api-error.js";
import { nameProblem } from "../../../shared/archive/entry-name.js";
import { installationFileName } from "../../../shared/installation-file-name.js";

const longestPathBytes = 4096;
const longestSegmentBytes = 255;
const deepestPath = 100;

/** The principal that performs a file operation. */
export interface FileCaller {
  /** Returns whether the principal is allowed to see packages with this name. */
  readonly covers: (packageName: string) => boolean;
  /** Throws if the principal is not allowed to manage packages with this name. */
  readonly assertCovers: (packageName: string) => void;
  /** True if the principal is allowed to see the values of `env` in manifests. */
  readonly seesValues: boolean;
}

/**
 * A requested path below a mount (a configured directory that the caller is allowed to see). The entry itself can be missing on the disk.
 */
export interface ResolvedPath {
  /** Path in the file API, which responses and error messages contain. The first segment is the name of the mount. */
  readonly path: string;
  readonly mount: Mount;
  readonly below: readonly string[];
}

/** A path in a package folder that the caller is allowed to change. */
export interface WritablePath extends ResolvedPath {
  readonly packageFolder: PackageFolder;
  /** Path segments below the package folder. Empty for the package folder itself. */
  readonly inPackage: readonly string[];
}

/** Resolves the paths that callers of the file API send, and checks the permission of the caller. */
export class FilePaths {
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #layout: Layout;
  readonly #owner: PackageOwner;

  constructor(options: { mounts: ReadonlyMap<string, Mount>; layout: Layout; owner: PackageOwner }) {
    this.#mounts = options.mounts;
    this.#layout = options.layout;
    this.#owner = options.owner;
  }

  /** Resolves a path for reading. Returns undefined for the empty path, for which the file API lists the mounts. */
  readable(text: string, caller: FileCaller): ResolvedPath | undefined {
    const [mountName, ...below] = pathSegments(text);
    if (mountName === undefined) return undefined;
    const mount = this.#mounts.get(mountName);
    // Hides folders whose name begins with a dot, such as the staging area.
    if (!mount || below[0]?.startsWith(".")) throw notFound(text);
    const name = packageNameAt(below);
    if (name !== undefined) caller.assertCovers(name);
    return { path: [mountName, ...below].join("/"), mount, below };
  }

  /** Downloads the files of the package that contains a path, if they are not on this machine. Throws like `readable`. */
  async prepare(text: string, caller: FileCaller): Promise<void> {
    const resolved = this.readable(text, caller);
    const packageFolder = resolved && packageFolderIn(resolved.mount, resolved.below, this.#layout);
    if (packageFolder) await this.#owner.prepare?.(packageFolder);
  }

  /**
   * Resolves a path for writing. Throws if the path is outside a package folder, if the package is built in, or if the caller is not
   * allowed to manage the package.
   */
  writable(text: string, caller: FileCaller): WritablePath {
    const resolved = this.readable(text, caller);
    const packageFolder = resolved && packageFolderIn(resolved.mount, resolved.below, this.#layout);
    if (!resolved || !packageFolder) throw notWritable(text, "files can be changed only in the folder of a package");
    if (resolved.mount.source === "built-in") throw notWritable(text, `the packages in ${shown(resolved.mount.name)} are built in`);
    for (const name of this.#owner.namesIn(packageFolder)) caller.assertCovers(name);
    return { ...resolved, packageFolder, inPackage: resolved.below.slice(packageFolder.segments.length) };
  }

  /** Resolves a path like `writable`, but rejects the package folder itself. */
  inPackage(text: string, caller: FileCaller): WritablePath & { readonly name: string } {
    const resolved = this.writable(text, caller);
    const name = resolved.inPackage.at(-1);
    if (name === undefined) throw notWritable(text, "the path is the folder of a whole package");
    return { ...resolved, name };
  }

  /** Returns the path of a package folder in the file API. Returns undefined if the package is built in or the folder is no package. */
  packagePathAt(folder: string): string | undefined {
    const mount = this.mountOf(folder);
    if (!mount || mount.source === "built-in") return undefined;
    const below = relative(mount.path, folder).split(sep);
    return packageFolderIn(mount, below, this.#layout)?.folder === folder ? [mount.name, ...below].join("/") : undefined;
  }

  /** Returns the configured directory that contains a folder. */
  mountOf(folder: string): Mount | undefined {
    return this.mounts.find((mount) => folder.startsWith(`${mount.path}${sep}`));
  }

  get mounts(): Mount[] {
    return [...this.#mounts.values()];
  }
}

/**
 * Returns the name of the package that contains a path below a mount. For a scope folder, such as `@team`, returns `@team/`, which stands
 * for all packages of the scope.
 */
export function packageNameAt([first, second = ""]: readonly string[]): string | undefined {
  return first?.startsWith("@") ? `${first}/${second}` : first;
}

/**
 * Splits a path into segments without decoding or Unicode normalization. Ignores a slash at the beginning and at the end. Returns no
 * segments for the empty path.
 */
function pathSegments(text: string): string[] {
  if (Buffer.byteLength(text) > longestPathBytes) throw unusable(text, `it is longer than ${longestPathBytes} bytes`);
  const trimmed = text.replace(/^\//, "").replace(/\/$/, "");
  if (trimmed === "") return [];
  const segments = trimmed.split("/");
  if (segments.length > deepestPath) throw unusable(text, `it is more than ${deepestPath} folders deep`);
  for (const segment of segments) checkSegment(segment, text);
  return segments;
}

function checkSegment(segment: string, path: string): void {
  if (segment === "" || segment === "." || segment === ".." || segment.includes("\\")) {
    throw new ApiError(
      "PATH_TRAVERSAL",
      `The path ${shown(path)} is not valid. Begin the path with a directory from the file list. The path must not contain "..", ".", "//" or "\\".`,
    );
  }
  if (/\p{Cc}|\p{Cs}/u.test(segment)) throw unusable(path, "it contains control characters or invalid Unicode");
  if (Buffer.byteLength(segment) > longestSegmentBytes) throw unusable(path, `a part of it is longer than ${longestSegmentBytes} bytes`);
}

/** Throws if some operating systems cannot store a file with this name. The same rules apply to the entries of an archive. */
export function checkNewName(name: string): void {
  if (name.includes("/")) throw new ApiError("PATH_TRAVERSAL", `The name ${shown(name)} is not valid: a name must not contain "/".`);
  checkSegment(name, name);
  if (name === installationFileName) throw unusable(name, "the daemon writes this file when it installs a version");
  const problem = nameProblem(name);
  if (problem !== undefined) throw unusable(name, problem);
}

function unusable(path: string, why: string): ApiError {
  return new ApiError("INVALID_REQUEST", `The path ${shown(path)} cannot be used: ${why}.`);
}
