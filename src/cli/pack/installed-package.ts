import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { packageFolders, parseInstalledPackage, type InstalledPackage } from "../../shared/installed-package.js";

/** Returns the package.json of a folder. Undefined if the file is missing, invalid, or in a zip file of Yarn. */
export async function readInstalledPackage(folder: string): Promise<InstalledPackage | undefined> {
  const text = await readFile(path.join(folder, "package.json"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : parseInstalledPackage(text);
}

/** Returns the folder of the package that Node.js finds from `folder`, with links resolved. Undefined if the package is not installed. */
export async function findInstalledPackage(name: string, folder: string): Promise<string | undefined> {
  for (let parent = folder; ; parent = path.dirname(parent)) {
    const isSearched = path.basename(parent) !== "node_modules";
    const found = isSearched ? await realpath(path.join(parent, "node_modules", name)).catch(() => undefined) : undefined;
    if (found !== undefined || parent === path.dirname(parent)) return found;
  }
}

/**
 * Returns the folder of the package that contains a file. In node_modules, this is the folder of the installed package. Elsewhere, it is
 * the nearest parent folder with a package.json.
 */
export async function packageFolderOf(file: string): Promise<string | undefined> {
  const [nearest, ...others] = packageFolders(file);
  if (others.length === 0) return nearest;
  for (const folder of packageFolders(file)) if ((await readInstalledPackage(folder)) !== undefined) return folder;
  return undefined;
}

/** Returns the package.json of the package that contains a file. */
export async function readPackageOf(file: string): Promise<InstalledPackage | undefined> {
  const folder = await packageFolderOf(file);
  return folder === undefined ? undefined : readInstalledPackage(folder);
}
