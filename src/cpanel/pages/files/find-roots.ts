import { ApiError } from "../../../shared/api-error.js";
import { isBuiltInMount, type PackageRef } from "./package-ref.js";
import type { FileApi } from "./file-operations.js";

/** Returns the folders of a package, one in each directory that contains it. */
export async function findRoots(api: FileApi, { name, isBuiltIn }: PackageRef): Promise<readonly string[]> {
  const { entries } = (await api.list({ query: {} })).data;
  const mounts = entries.map(({ path }) => path).filter((path) => !isBuiltIn || isBuiltInMount(path));
  const candidates = mounts.map((mount) => `${mount}/${name}`);
  // With only one possible place, listing it shows whether it exists.
  if (!isBuiltIn && candidates.length === 1) return candidates;
  const found = await Promise.all(mounts.map((mount) => holds(api, mount, name)));
  return candidates.filter((_, index) => found[index]);
}

/** Lists the parent folders: requesting a missing path would log an error on the console. */
async function holds(api: FileApi, mount: string, name: string): Promise<boolean> {
  let folder = mount;
  for (const segment of name.split("/")) {
    const { entries, hasMore } = (await api.list({ query: { path: folder } })).data;
    folder = `${folder}/${segment}`;
    // A truncated list may lack it.
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
