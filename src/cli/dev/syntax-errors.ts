import { readFile } from "node:fs/promises";
import { bundleFailure } from "../pack/bundle-failure.js";
import type { PackedFile } from "../pack/pack-plan.js";
import type { CommandError } from "../command-error.js";

/** Beyond these, finding the place would take longer than looking. */
const mostFiles = 1000;

/** Where the worker's own code does not even parse: Node names no place for a module that it cannot read. Undefined when all of it parses. */
export async function findSyntaxError(folder: string, files: readonly PackedFile[]): Promise<CommandError | undefined> {
  const { transform } = await import("esbuild");
  const modules = files.filter((file) => /\.[cm]?js$/.test(file.path) && !/(?:^|\/)node_modules\//.test(file.path));
  for (const file of modules.slice(0, mostFiles)) {
    try {
      await transform(await readFile(file.source, "utf8"), { sourcefile: file.path, logLevel: "silent" });
    } catch (error) {
      return bundleFailure(error, folder, { code: "SYNTAX_ERROR", message: "the code cannot be read" });
    }
  }
  return undefined;
}
