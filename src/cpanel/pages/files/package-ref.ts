import { isPackageVersion } from "../../../shared/package-name.js";
import type { FileKind } from "./file-operations.js";

/** A package whose files are looked at. */
export interface PackageRef {
  readonly kind: FileKind;
  readonly name: string;
  /** All that is installed of it comes with the daemon. */
  readonly isBuiltIn: boolean;
  /** Where the panel shows its files: `apps/shop/files`. */
  readonly page: string;
}

/** A folder of a package. */
export interface Folder {
  readonly of: PackageRef;
  /** As the API has it: `workers/shop/1.0.0/assets`. */
  readonly path: string;
  /** Whether what is in it may be changed at all, whoever asks. */
  readonly isChangeable: boolean;
}

/** A folder below one of the package's `roots`; undefined when the path leads elsewhere. */
export function folderAt(of: PackageRef, roots: readonly string[], path: string): Folder | undefined {
  const root = roots.find((candidate) => isWithin(candidate, path));
  if (root === undefined) return undefined;
  const [first = ""] = path.slice(root.length + 1).split("/");
  // Of a worker, files are changed in its versions only.
  const isInUnit = of.kind === "plugins" || isPackageVersion(first);
  return { of, path, isChangeable: isInUnit && !isBuiltInMount(root) };
}

/** A directory whose name starts with a dot is part of the image. */
export function isBuiltInMount(path: string): boolean {
  return path.startsWith(".");
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Where the panel shows a folder, or a file in it. */
export function pageAt({ page }: PackageRef, path: string, file?: string): string {
  return `${page}?${new URLSearchParams({ path, ...(file === undefined ? {} : { file }) }).toString()}`;
}
