import { readFile } from "node:fs/promises";

const directory = new URL("../workers/", import.meta.url);

/** Returns the files of a worker: bench/workers/ENTRY as index.js, and the modules that it imports. */
export async function workerOf(entry, { modules = [], manifest } = {}) {
  const files = { "index.js": await readFile(new URL(entry, directory), "utf8") };
  for (const file of modules) files[file] = await readFile(new URL(file, directory), "utf8");
  return { files, manifest };
}
