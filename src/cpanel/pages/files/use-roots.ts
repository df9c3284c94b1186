import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import type { PackageRef } from "./package-ref.js";
import { findRoots } from "./find-roots.js";
import { useFileApi } from "./use-file-api.js";

/** Returns the package's folders, one for each package directory that contains the package. */
export function useRoots(of: PackageRef): Resource<readonly string[]> {
  const api = useFileApi(of.kind);
  const isWanted = useMay(`${of.kind}:read`);
  return useResource(`files.roots.${of.kind}.${of.isBuiltIn}.${of.name}`, () => findRoots(api, of), { intervalMs: Infinity, isWanted });
}
