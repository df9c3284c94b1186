import { isPackageVersion } from "../../../shared/package-name.js";
import type { FileKind } from "./file-operations.js";

/** A package whose files are shown. */
export interface PackageRef {
  readonly kind: FileKind;
  readonly name: string;
  /** Whether the package is part of the daemon and has no uploaded files. */
  readonly isBuiltIn: boolean;
  /** Path of the panel page that shows the files, such as `apps/shop/files`. */
  readonly page: string;
}

/** A folder of a package, displayed by the file browser. */
export interface Folder {
  readonly of: PackageRef;
  /** Path of the folder in the API, such as `workers/shop/1.0.0/assets`. */
  readonly path: string;
  /** Whether the daemon accepts changes of files in this folder from a key with the required permission. */
  readonly isChangeable: boolean;
}

/** Returns the folder at a path. Undefined if the path is outside of the package's `roots`. */
export function folderAt(of: PackageRef, roots: readonly string[], path: string): Folder | undefined {
  const root = roots.find((candidate) => isWithin(candidate, path));
  if (root === undefined) return undefined;
  const [first = ""] = path.slice(root.length + 1).split("/");
  // In a worker, only files inside of a version folder can be changed.
  const isInPackage = of.kind === "plugins" || isPackageVersion(first);
  return { of, path, isChangeable: isInPackage && !isBuiltInMount(root) };
}

/** Whether a package directory contains built-in packages. The name of such a directory starts with a dot. */
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
