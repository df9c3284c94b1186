import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import type { ServedVersion } from "./version-handler.js";

/** The entry file of a version: a page of a static site, or a module that runs in isolates. */
export interface Entrypoint {
  readonly kind: "static" | "module" | "typescript";
  /** Path of the entry file, relative to the package folder. */
  readonly file: string;
  /** Location of the module's source map: beside the module, or hidden in `sourceMapsFolder`. Undefined without a source map. */
  readonly sourceMap: "beside" | "hidden" | undefined;
}

/** Folder for the source maps of bundles. Each source map has the same path as its module. Workers cannot read this folder. */
export const sourceMapsFolder = ".source-maps";

const defaultFiles = ["index.html", "index.js", "index.mjs", "index.ts"];

/**
 * Returns the entry file: `entrypoint` of the manifest, otherwise the first existing default file, otherwise `main` of package.json. Throws
 * WORKER_START_FAILED if there is no such file.
 */
export async function findEntrypoint(version: ServedVersion): Promise<Entrypoint> {
  const { folder, manifest } = version;
  if (manifest.entrypoint !== undefined) {
    if (await isFile(folder, manifest.entrypoint)) return toEntrypoint(folder, manifest.entrypoint);
    throw startFailed(`The entrypoint ${JSON.stringify(manifest.entrypoint)} in the manifest does not exist.`);
  }
  for (const file of defaultFiles) {
    if (await isFile(folder, file)) return toEntrypoint(folder, file);
  }
  const main = await readMain(folder);
  if (main === undefined) {
    throw startFailed(`The package has no entrypoint. Set \`entrypoint\` in the manifest, or add one of ${defaultFiles.join(", ")}.`);
  }
  for (const file of [main, `${main}.js`, `${main}.mjs`, `${main}.cjs`, path.posix.join(main, "index.js")]) {
    if (await isFile(folder, file)) return toEntrypoint(folder, file);
  }
  throw startFailed(`The \`main\` file ${JSON.stringify(main)} in package.json does not exist.`);
}

async function toEntrypoint(folder: string, file: string): Promise<Entrypoint> {
  const normal = path.posix.normalize(file);
  if (/\.html?$/i.test(normal)) return { kind: "static", file: normal, sourceMap: undefined };
  if (/\.[cm]?tsx?$|\.jsx$/i.test(normal)) return { kind: "typescript", file: normal, sourceMap: undefined };
  if (await isFile(folder, `${sourceMapsFolder}/${normal}.map`)) return { kind: "module", file: normal, sourceMap: "hidden" };
  return { kind: "module", file: normal, sourceMap: (await isFile(folder, `${normal}.map`)) ? "beside" : undefined };
}

async function isFile(folder: string, file: string): Promise<boolean> {
  try {
    const [root, real] = await Promise.all([realpath(folder), realpath(path.join(folder, file))]);
    return real.startsWith(root + path.sep) && (await stat(real)).isFile();
  } catch {
    return false;
  }
}

async function readMain(folder: string): Promise<string | undefined> {
  try {
    const { main } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) as { main?: unknown };
    return typeof main === "string" && main !== "" ? main : undefined;
  } catch {
    return undefined;
  }
}

function startFailed(reason: string): ApiError {
  return new ApiError("WORKER_START_FAILED", `The worker cannot be started. ${reason}`);
}
