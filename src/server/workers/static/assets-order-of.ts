import { readdir } from "node:fs/promises";
import path from "node:path";
import { contentType } from "mime-types";
import type { Entrypoint } from "../engine/entrypoint.js";
import type { ServedVersion } from "../engine/version-handler.js";
import { fileHeadersOf } from "./static-files.js";
import type { AssetsOrder } from "../protocol/assets-order.js";

/** Returns the description of the files that a worker reads through `env.ASSETS`. Returns undefined if the manifest has no `assets`. */
export async function assetsOrderOf({ name, folder, manifest }: ServedVersion, { file }: Entrypoint): Promise<AssetsOrder | undefined> {
  if (!manifest.assets) return undefined;
  const directory = path.posix.normalize(manifest.assets.directory);
  const module = path.posix.relative(directory, file);
  const types = await typesBelow(path.join(folder, directory));
  return {
    directory,
    types,
    notFound: manifest.assets.notFound,
    module,
    nameInPaths: manifest.path === "full" ? name : undefined,
    immutable: manifest.immutable,
    headers: fileHeadersOf(manifest),
  };
}

/** Returns the content type of each file extension that occurs below a folder. */
async function typesBelow(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder, { recursive: true });
  const extensions = new Set(files.map((file) => path.extname(file)));
  const types = [...extensions].map((extension) => [extension, contentType(extension)] as const);
  return Object.fromEntries(types.filter((entry): entry is readonly [string, string] => entry[1] !== false));
}
