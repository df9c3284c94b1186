import { isPackageVersion } from "../../../shared/package-name.js";
import type { FileKind } from "./file-operations.js";

/** A package whose files are shown. */
export interface PackageRef {
  readonly kind: FileKind;
  readonly name: string;
  /** Whether the package is part of the daemon and has no uploaded files. */
  readonly isBuiltIn: boolean;
  /** Page of the files: `apps/shop/files`. */
  readonly page: string;
}

/** A folder of a package. */
export interface Folder {
  readonly of: PackageRef;
  /** Path in the API, such as `workers/shop/1.0.0/assets`. */
  readonly path: string;
  /** Whether files in the folder can be changed, permissions aside. */
  readonly isChangeable: boolean;
}

/** Returns a folder below one of the package's `roots`; undefined for any other path. */
export function folderAt(of: PackageRef, roots: readonly string[], path: string): Folder | undefined {
  const root = roots.find((candidate) => isWithin(candidate, path));
  if (root === undefined) return undefined;
  const [first = ""] = path.slice(root.length + 1).split("/");
  // Files of a worker can be changed only in its versions.
  const isInUnit = of.kind === "plugins" || isPackageVersion(first);
  return { of, path, isChangeable: isInUnit && !isBuiltInMount(root) };
}

/** A directory name with a leading dot marks a part of the container image. */
export function isBuiltInMount(path: string): boolean {
  return path.startsWith(".");
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Returns the path of the panel page that shows a folder, or a file in it. */
export function pageAt({ page }: PackageRef, path: string, file?: string): string {
  return `${page}?${new URLSearchParams({ path, ...(file === undefined ? {} : { file }) }).toString()}`;
}
