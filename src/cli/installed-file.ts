import path from "node:path";

/** The package's folder: two levels above this file, in the sources as in the bundle. */
const packageFolder = path.join(import.meta.dirname, "../..");

/** The path of a file that is installed with `runtimectl`, such as `bin/runtimed.js`. */
export function installedFile(relativePath: string): string {
  return path.join(packageFolder, relativePath);
}
