import { list, type Instance } from "../../../shared/contract/instances.js";
import { instanceLabel, withoutReplaced } from "../../../shared/instance-list.js";
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

/**
 * Returns the names of the daemons for a filter, and the chosen name, because the daemon can disappear. Returns none without other daemons.
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
