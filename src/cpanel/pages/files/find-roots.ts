import { ApiError } from "../../../shared/api-error.js";
import { isBuiltInMount, type PackageRef } from "./package-ref.js";
import type { FileApi } from "./file-operations.js";

/** The folders of a package, one in each directory that it lies in. */
export async function findRoots(api: FileApi, { name, isBuiltIn }: PackageRef): Promise<readonly string[]> {
  const { entries } = (await api.list({ query: {} })).data;
  const mounts = entries.map(({ path }) => path).filter((path) => !isBuiltIn || isBuiltInMount(path));
  const candidates = mounts.map((mount) => `${mount}/${name}`);
  // Where it can be in one place only, whether it is there is seen when that is listed.
  if (!isBuiltIn && candidates.length === 1) return candidates;
  const found = await Promise.all(mounts.map((mount) => holds(api, mount, name)));
  return candidates.filter((_, index) => found[index]);
}

/** Looks into the folders above: a question for what is not there would be an error in the browser's console. */
async function holds(api: FileApi, mount: string, name: string): Promise<boolean> {
  let folder = mount;
  for (const segment of name.split("/")) {
    const { entries, hasMore } = (await api.list({ query: { path: folder } })).data;
    folder = `${folder}/${segment}`;
    // A listing that is cut short may lack it.
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
