import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the package, seen from src/server as from dist/server. */
export const packageRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Something that the build made, by its path below dist: child processes and built-in plugins are JavaScript, also when the daemon runs from src. */
export function compiledFile(relativePath: string): string {
  return path.join(packageRoot, "dist", relativePath);
}

/** The version that discovery and health answer with. */
export const packageVersion: string = (JSON.parse(readFileSync(path.join(packageRoot, "package.json"), "utf8")) as { version: string })
  .version;
