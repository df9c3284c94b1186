import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the package, found from src/server or dist/server. */
export const packageRoot = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Returns the path of a compiled file below dist. Child processes and built-in plugins always run compiled code, even if the daemon runs
 * from src.
 */
export function compiledFile(relativePath: string): string {
  return path.join(packageRoot, "dist", relativePath);
}

/** The version that discovery and health report. */
export const packageVersion: string = (JSON.parse(readFileSync(path.join(packageRoot, "package.json"), "utf8")) as { version: string })
  .version;
