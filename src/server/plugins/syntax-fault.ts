import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { TransformFailure } from "esbuild";

/** More files than these are not searched for the one that is at fault. */
const mostFiles = 200;

/**
 * Where the syntax of a plugin's own files is at fault, as `plugin.js:3:14: Expected ";"`; undefined when it is not found. Node tells
 * the place of a syntax error to the terminal only. The compiler is started for this alone, and ends with it.
 */
export async function findSyntaxFault(folder: string): Promise<string | undefined> {
  const { transform, stop } = await import("esbuild");
  try {
    for (const file of await ownModules(folder)) {
      const fault = await transform(await readFile(path.join(folder, file), "utf8"), { sourcefile: file, logLevel: "silent" }).then(
        () => undefined,
        (failure: TransformFailure) => failure.errors[0],
      );
      if (fault) return `${file}:${fault.location?.line ?? 1}:${(fault.location?.column ?? 0) + 1}: ${fault.text}`;
    }
    return undefined;
  } finally {
    await stop();
  }
}

async function ownModules(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => /\.[cm]?js$/.test(file) && !file.split(path.sep).includes("node_modules")).slice(0, mostFiles);
}
