import { realpathSync } from "node:fs";
import path from "node:path";
import { packageDirectories, type PackageDirectory } from "../package-directories.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { PackageFolder } from "./package-folder.js";

/** A configured directory in the file API. All paths in the directory begin with `name`. */
export interface Mount extends PackageDirectory {
  readonly name: string;
}

/**
 * Returns the configured directories by mount name. The mount name is the last path segment; a second directory with this segment gets the
 * suffix `-2`. Omits the built-in directory.
 */
export function createMounts(options: {
  builtInDirectory: string | undefined;
  directories: readonly string[];
}): ReadonlyMap<string, Mount> {
  const known = new Map(packageDirectories(options.builtInDirectory, options.directories).map((directory) => [directory.path, directory]));
  if (options.builtInDirectory !== undefined) known.delete(realOr(path.resolve(options.builtInDirectory)));
  const mounts = new Map<string, Mount>();
  for (const configured of options.directories) {
    const directory = known.get(realOr(path.resolve(configured)));
    if (!directory) continue;
    known.delete(directory.path);
    const base = path.basename(path.resolve(configured)) || "root";
    let name = base;
    for (let count = 2; mounts.has(name); count += 1) name = `${base}-${count}`;
    mounts.set(name, { ...directory, name });
  }
  return mounts;
}

function realOr(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/** Returns the folder in which a change of a package directory happens: the directory, or a folder with a copy of the changed package. */
export type RootOf = (directory: string) => string;

/** A change of files. The slow part is prepared in a staging area, then the change is applied in one turn of the event loop. */
export interface FileChange {
  /**
   * Prepares the slow part of the change in a staging folder, before the daemon takes the lock of the directory. If this function throws,
   * no package has changed.
   */
  readonly prepare?: (asideFolder: string) => Promise<void>;
  /**
   * Checks whether the change is allowed, while the daemon holds the lock of the directory. If this function throws, no package has
   * changed.
   */
  readonly check?: (asideFolder: string) => void;
  /** Applies the change by renames. If the change moves a whole package folder, returns the new path. */
  readonly apply: (asideFolder: string, rootOf: RootOf) => string | undefined;
  /** True if the change has several steps. An error can then leave some of the steps applied. */
  readonly hasSteps?: boolean;
  /** Syncs the changed files and folders to the disk. */
  readonly settle: (rootOf: RootOf) => Promise<void>;
}

/** The service that manages the packages of one kind (workers or plugins). All changes of their files go through this service. */
export interface PackageOwner {
  /** Downloads the files of a package that is not on this machine. Throws PACKAGE_UNAVAILABLE. */
  prepare?(packageFolder: PackageFolder): Promise<void>;
  /**
   * Applies the change while the daemon holds the lock of the directory. In the same turn of the event loop, updates the catalog and
   * retires the previous content of the package folders.
   */
  changeFiles(packageFolders: readonly PackageFolder[], change: FileChange): Promise<void>;
  /** Returns the names in the metadata of the package folder. A name can differ from the name in the path of the folder. */
  namesIn(packageFolder: PackageFolder): string[];
  /** Throws if the daemon would not serve or load a package with this metadata. */
  assertUsable(packageFolder: PackageFolder, metadata: PackageMetadata): void;
  /** Rejects with ApiError if the plugin in the package folder does not accept its settings. */
  assertSettings?(packageFolder: PackageFolder, metadata: PackageMetadata): Promise<void>;
  /** Throws if the package folder must not contain a package with these metadata fields. */
  assertAcceptable(packageFolder: PackageFolder, fields: Readonly<Record<string, unknown>>): void;
}
