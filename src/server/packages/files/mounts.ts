import { realpathSync } from "node:fs";
import path from "node:path";
import { packageDirectories, type PackageDirectory } from "../package-directories.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { Unit } from "./package-folder.js";

/** A configured directory under the first segment of its paths. */
export interface Mount extends PackageDirectory {
  readonly name: string;
}

/** Names the configured directories by their base names. The second one with a name gets `-2`. Excludes the built-in directory. */
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
  /** Prepares slow parts in a folder on the same file system, without the lock. When it throws, nothing has changed. */
  readonly prepare?: (asideFolder: string) => Promise<void>;
  /** Checks with the lock whether the change is allowed. When it throws, nothing has changed. */
  readonly check?: (asideFolder: string) => void;
  /** Applies the change by renames. Returns the new path of a package folder that was moved as a whole. */
  readonly apply: (asideFolder: string) => string | undefined;
  /** True for several steps: an error can leave a part of the change. */
  readonly hasSteps?: boolean;
  /** Syncs the changed files and folders. */
  readonly settle: () => Promise<void>;
}

/** The owner of one kind of packages, which surrounds changes of their files. */
export interface PackageOwner {
  /** Applies the change with the directory's lock, and renews what serves the package folders in the same turn. */
  changeFiles(units: readonly Unit[], change: FileChange): Promise<void>;
  /** Returns the names that the packages in the folder declare, besides the name of its path. */
  namesIn(unit: Unit): string[];
  /** Throws when a package with this metadata would not be served or loaded. */
  assertUsable(unit: Unit, metadata: PackageMetadata): void;
  /** Rejects with ApiError when the plugin in the unit would not accept its settings. */
  assertSettings?(unit: Unit, metadata: PackageMetadata): Promise<void>;
  /** Throws when a package with these fields is not allowed in this folder. */
  assertAcceptable(unit: Unit, fields: Readonly<Record<string, unknown>>): void;
}
