import { ApiError } from "../../../shared/api-error.js";
import { isBuiltInMount, type PackageRef } from "./package-ref.js";
import type { FileApi } from "./file-operations.js";

/** Returns the paths of the package's folders, one for each package directory that contains the package. */
export async function findRoots(api: FileApi, { name, isBuiltIn }: PackageRef): Promise<readonly string[]> {
  const { entries } = (await api.list({ query: {} })).data;
  const mounts = entries.map(({ path }) => path).filter((path) => !isBuiltIn || isBuiltInMount(path));
  const candidates = mounts.map((mount) => `${mount}/${name}`);
  // Does not check a single candidate. When the panel lists the files of this folder later, the response shows whether the folder exists.
  if (!isBuiltIn && candidates.length === 1) return candidates;
  const found = await Promise.all(mounts.map((mount) => holds(api, mount, name)));
  return candidates.filter((_, index) => found[index]);
}

/**
 * Whether a package directory contains a package. Lists the parent folders instead of requesting the package folder, because the browser
 * shows each 404 as an error on the console.
 */
async function holds(api: FileApi, mount: string, name: string): Promise<boolean> {
  let folder = mount;
  for (const segment of name.split("/")) {
    const { entries, hasMore } = (await api.list({ query: { path: folder } })).data;
    folder = `${folder}/${segment}`;
    // The list of a large folder is truncated. If the list might lack the package folder, requests the package folder itself.
    if (!entries.some(({ path }) => path === folder)) return hasMore === true && isThere(api, folder);
  }
  return true;
}

async function isThere(api: FileApi, path: string): Promise<boolean> {
  try {
    await api.list({ query: { path } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "PATH_NOT_FOUND") return false;
    throw error;
  }
}
