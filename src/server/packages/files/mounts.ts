import { realpathSync } from "node:fs";
import path from "node:path";
import { packageDirectories, type PackageDirectory } from "../package-directories.js";

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
