import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** Inputs of every part of the build. The lock file represents the installed packages. */
const common = ["scripts", "package.json", "package-lock.json", "tsconfig.json"];

/**
 * Returns a hash of the names and contents of all files that a part of the build reads. `inputs` are the files and folders that only this
 * part reads.
 */
export async function inputDigest(root, inputs) {
  const hash = createHash("sha256");
  for (const input of [...inputs, ...common])
    for (const file of await filesOf(root, input)) hash.update(`${file}\0`).update(await readFile(path.join(root, file)));
  return hash.digest("hex");
}

async function filesOf(root, input) {
  if (path.extname(input) !== "") return [input];
  const entries = await readdir(path.join(root, input), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .toSorted();
}
