// Properties of an installation: the packages, and the disk space that they need.
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

/** Returns the folders of all packages below a `node_modules` folder, including nested packages. */
export async function installedPackages(nodeModules) {
  const folders = [];
  for (const name of await namesIn(nodeModules)) {
    if (name.startsWith(".")) continue;
    const members = name.startsWith("@") ? (await namesIn(path.join(nodeModules, name))).map((member) => path.join(name, member)) : [name];
    for (const member of members) {
      const folder = path.join(nodeModules, member);
      folders.push(folder, ...(await installedPackages(path.join(folder, "node_modules"))));
    }
  }
  return folders;
}

/** Returns the number of bytes that a folder needs on the disk. A file with several hard links counts once, as with `du`. */
export async function diskBytes(folder, countedInodes = new Set()) {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      bytes += await diskBytes(file, countedInodes);
      continue;
    }
    const { ino, blocks } = await lstat(file);
    if (countedInodes.has(ino)) continue;
    countedInodes.add(ino);
    bytes += blocks * 512;
  }
  return bytes;
}

async function namesIn(folder) {
  return readdir(folder).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}
