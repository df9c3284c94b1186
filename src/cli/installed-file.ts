import path from "node:path";

/** The root folder of the runtimectl package. It is two levels above this file, both in the sources and in the bundle. */
const packageFolder = path.join(import.meta.dirname, "../..");

/** Returns the absolute path of a file in the runtimectl package, such as `bin/runtimed.js`. */
export function installedFile(relativePath: string): string {
  return path.join(packageFolder, relativePath);
}
