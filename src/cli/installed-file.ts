import path from "node:path";

/** The package's folder: two levels above this file, in the sources as in the bundle. */
const packageFolder = path.join(import.meta.dirname, "../..");

/** Returns the path of a file of this package, such as `bin/runtimed.js`. */
export function installedFile(relativePath: string): string {
  return path.join(packageFolder, relativePath);
}
