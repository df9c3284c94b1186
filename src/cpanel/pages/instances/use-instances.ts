import { list, type Instance } from "../../../shared/contract/instances.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";

const operations = { instances: { list } };
/** Default polling interval. For each request, the daemon asks all others. */
const usualIntervalMs = 10_000;

/** Returns the daemons with the same primary. Without a primary, there is one. */
export function useInstances({ intervalMs = usualIntervalMs }: { intervalMs?: number } = {}): Resource<readonly Instance[]> {
  const api = useApi(operations);
  return useResource<readonly Instance[]>("instances", () => api.instances.list(), { intervalMs, isWanted: useMay("workers:read") });
}

/** Whether the key is allowed to drain daemons. A drain concerns all namespaces. */
export function useMayDrain(): boolean {
  const { namespaces } = usePrincipal();
  return useMay("workers:restart") && namespaces.includes("*");
}
