import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Root folder of the npm package, relative to this file in src/server or dist/server. */
export const packageRoot = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Returns the path of a compiled file below dist. Child processes and built-in plugins always run compiled code, even if the daemon itself
 * runs from src.
 */
export function compiledFile(relativePath: string): string {
  return path.join(packageRoot, "dist", relativePath);
}

/** Version of the package, which the discovery and health operations return. */
export const packageVersion: string = (JSON.parse(readFileSync(path.join(packageRoot, "package.json"), "utf8")) as { version: string })
  .version;
