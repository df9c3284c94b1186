import { list, type Instance } from "../../../shared/contract/instances.js";
import { instanceLabel, withoutReplaced } from "../../../shared/instance-list.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";

const operations = { instances: { list } };
/** Default polling interval. The interval limits the load, because the daemon sends a request to every other daemon for each request. */
const usualIntervalMs = 10_000;

/** Returns the daemons with the same primary. Without a primary, the list contains one daemon. */
export function useInstances({ intervalMs = usualIntervalMs }: { intervalMs?: number } = {}): Resource<readonly Instance[]> {
  const api = useApi(operations);
  return useResource<readonly Instance[]>("instances", () => api.instances.list(), { intervalMs, isWanted: useMay("workers:read") });
}

/**
 * Returns the names of the daemons for a filter. Includes the chosen name even if no daemon in the list has this name. Returns an empty
 * list if there is only one name.
 */
export function useInstanceLabels(chosen: string | undefined): readonly string[] {
  const { data = [] } = useInstances();
  const labels = withoutReplaced(data).map((instance) => instanceLabel(instance, data));
  if (chosen !== undefined && chosen !== "" && !labels.includes(chosen)) labels.push(chosen);
  return labels.length > 1 ? labels : [];
}

/** Whether the key is allowed to drain daemons. A drain concerns all namespaces. */
export function useMayDrain(): boolean {
  const { namespaces } = usePrincipal();
  return useMay("workers:restart") && namespaces.includes("*");
}
