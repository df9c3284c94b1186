import { readFile, realpath } from "node:fs/promises";
import path from "node:path";

/** Fields of an installed package's package.json. */
export interface InstalledPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Returns the package of a bare specifier. Undefined for paths and modules of runtimes, such as node:fs. */
export function packageNameOf(specifier: string): string | undefined {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(specifier)?.[0];
}

/** Returns the package.json of a folder. Undefined if it is missing, invalid or in a zip file of Yarn. */
export async function readInstalledPackage(folder: string): Promise<InstalledPackage | undefined> {
  try {
    const content: unknown = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    return typeof content === "object" && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the folder of a package as Node.js finds it from `folder`, with links resolved. Undefined if it is not installed. */
export async function findInstalledPackage(name: string, folder: string): Promise<string | undefined> {
  for (const parent of [folder, ...parentsOf(folder)]) {
    if (path.basename(parent) === "node_modules") continue;
    const found = await realpath(path.join(parent, "node_modules", name)).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the folder of the package that contains a file: the nearest one with a package.json, below node_modules its own folder. */
export async function packageFolderOf(file: string): Promise<string | undefined> {
  const installed = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(file)?.[0];
  if (installed !== undefined) return installed;
  for (const folder of parentsOf(file)) if ((await readInstalledPackage(folder)) !== undefined) return folder;
  return undefined;
}

/** Returns the folders above a path, nearest first. */
function parentsOf(place: string): string[] {
  const parent = path.dirname(place);
  return parent === place ? [] : [parent, ...parentsOf(parent)];
}
