import { realpathSync } from "node:fs";
import path from "node:path";
import { packageDirectories, type PackageDirectory } from "../package-directories.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { Unit } from "./package-folder.js";

/** A configured directory in the file API. `name` is the first segment of all paths in the directory. */
export interface Mount extends PackageDirectory {
  readonly name: string;
}

/**
 * Returns the configured directories by mount name, which is the last path segment. A second directory with the same name gets the suffix
 * `-2`. Excludes the built-in directory.
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

/** A change of files, which is prepared in a staging area and then applied in one turn of the event loop. */
export interface FileChange {
  /**
   * Prepares slow parts of the change in a staging folder, without the directory's lock. If the preparation throws, no package has changed.
   */
  readonly prepare?: (asideFolder: string) => Promise<void>;
  /** Checks with the directory's lock whether the change is allowed. If the check throws, no package has changed. */
  readonly check?: (asideFolder: string) => void;
  /** Applies the change by renames. Returns the new path of a package folder that was moved as a whole. */
  readonly apply: (asideFolder: string) => string | undefined;
  /** True if the change has several steps, so that an error can leave a part of the change. */
  readonly hasSteps?: boolean;
  /** Syncs the changed files and folders. */
  readonly settle: () => Promise<void>;
}

/** Owner of one package kind (workers or plugins), which performs and checks changes of the files in its packages. */
export interface PackageOwner {
  /**
   * Applies the change with the directory's lock. Renews the workers or plugins in the package folders in the same turn of the event loop.
   */
  changeFiles(units: readonly Unit[], change: FileChange): Promise<void>;
  /** Returns the names that the metadata in the package folder declares. These can differ from the name in the folder's path. */
  namesIn(unit: Unit): string[];
  /** Throws when a package with this metadata would not be served or loaded. */
  assertUsable(unit: Unit, metadata: PackageMetadata): void;
  /** Rejects with ApiError if the plugin in the package folder would reject its settings. */
  assertSettings?(unit: Unit, metadata: PackageMetadata): Promise<void>;
  /** Throws if a package with these metadata fields is not allowed in this folder. */
  assertAcceptable(unit: Unit, fields: Readonly<Record<string, unknown>>): void;
}
