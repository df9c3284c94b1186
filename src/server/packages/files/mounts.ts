import { realpathSync } from "node:fs";
import path from "node:path";
import { packageDirectories, type PackageDirectory } from "../package-directories.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { Unit } from "./package-folder.js";

/** A configured directory under the name by which paths begin. */
export interface Mount extends PackageDirectory {
  readonly name: string;
}

/** The configured directories by their base names; the second of a name gets `-2`. What the product ships itself is none of them. */
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

/** A change of files: prepared aside, then done in one instant. */
export interface FileChange {
  /** What takes its time, in a folder on the same file system; others may change the same meanwhile. When it throws, nothing has changed. */
  readonly prepare?: (asideFolder: string) => Promise<void>;
  /** Whether it may be done, as things are now that nobody else changes anything. When it throws, nothing has changed. */
  readonly check?: (asideFolder: string) => void;
  /** Does it, by renames. Returns where a whole unit has gone, if one has. */
  readonly apply: (asideFolder: string) => string | undefined;
  /** Whether it takes several steps: then it may be half done when it throws. */
  readonly hasSteps?: boolean;
  /** Has it reach stable storage. */
  readonly settle: () => Promise<void>;
}

/** What a kind of package does around a change of its files. */
export interface PackageOwner {
  /** Does the change of units that lie in one directory, with none other there at a time; what serves them is renewed in the same instant. */
  changeFiles(units: readonly Unit[], change: FileChange): Promise<void>;
  /** The names under which what lies in a unit counts, besides that of its place. */
  namesIn(unit: Unit): string[];
  /** Throws when a package of this metadata in the unit would not be served, or not be loaded. */
  assertUsable(unit: Unit, metadata: PackageMetadata): void;
  /** Rejects with ApiError when the plugin in the unit would not accept its settings. */
  assertSettings?(unit: Unit, metadata: PackageMetadata): Promise<void>;
  /** Throws when a package that says this about itself may not lie in the unit. */
  assertAcceptable(unit: Unit, fields: Readonly<Record<string, unknown>>): void;
}
