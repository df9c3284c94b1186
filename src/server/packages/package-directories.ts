import { realpathSync } from "node:fs";
import path from "node:path";
import type { PackageSource } from "./installed-version.js";

/** A directory whose subfolders are packages. */
export interface PackageDirectory {
  readonly path: string;
  readonly source: PackageSource;
}

/** The built-in directory, then the configured ones, each once. A base name that starts with a dot says: part of the image. */
export function packageDirectories(builtInDirectory: string | undefined, configured: readonly string[]): PackageDirectory[] {
  const directories = new Map<string, PackageDirectory>();
  if (builtInDirectory !== undefined) {
    const builtIn = realDirectory(builtInDirectory);
    directories.set(builtIn, { path: builtIn, source: "built-in" });
  }
  for (const directory of configured) {
    const source = path.basename(path.resolve(directory)).startsWith(".") ? "built-in" : "uploaded";
    const real = realDirectory(directory);
    if (!directories.has(real)) directories.set(real, { path: real, source });
  }
  return [...directories.values()];
}

function realDirectory(directory: string): string {
  const absolute = path.resolve(directory);
  try {
    return realpathSync(absolute);
  } catch {
    return absolute;
  }
}
