import { ApiError } from "../../shared/api-error.js";
import { useResource, type Resource } from "../live/use-resource.js";
import { useMay } from "../session/use-principal.js";
import { isBuiltInMount, type BrowsedPackage } from "./browsed-package.js";
import type { FileApi } from "./file-operations.js";
import { useFileApi } from "./use-file-api.js";

/** The package's folders, one in each directory that it lies in; none when it is shipped with the daemon. */
export function useRoots(of: BrowsedPackage): Resource<readonly string[]> {
  const api = useFileApi(of.kind);
  const isWanted = useMay(`${of.kind}:read`);
  return useResource(`files.roots.${of.kind}.${of.isBuiltIn}.${of.name}`, () => findRoots(api, of), { intervalMs: Infinity, isWanted });
}

async function findRoots(api: FileApi, { name, isBuiltIn }: BrowsedPackage): Promise<readonly string[]> {
  const { entries } = (await api.list({ query: {} })).data;
  const mounts = entries.map(({ path }) => path).filter((path) => !isBuiltIn || isBuiltInMount(path));
  const candidates = mounts.map((mount) => `${mount}/${name}`);
  // Where it can be in one place only, whether it is there is seen when that is listed.
  if (!isBuiltIn && candidates.length === 1) return candidates;
  const found = await Promise.all(candidates.map((path) => isThere(api, path)));
  return candidates.filter((_, index) => found[index]);
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
