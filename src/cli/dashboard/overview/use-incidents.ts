import { incidentsOf, type Incident } from "../../../shared/incidents.js";
import { useIsAllowed } from "../components/require-permission.js";
import { useInstances } from "../instances/use-instances.js";
import { useQuery } from "../queries/hooks.js";
import { readiness } from "./readiness.js";

/**
 * Returns the current incidents, the most severe first. Undefined until the daemon has responded. Sends no request for which the API key
 * lacks the permission.
 */
export function useIncidents(): readonly Incident[] | undefined {
  const isAllowed = useIsAllowed();
  const health = useQuery("health", (client) => client.workers.health({ query: {} }), isAllowed("workers:read"));
  const plugins = useQuery("plugins", (client) => client.plugins.list(), isAllowed("plugins:read"));
  const keys = useQuery("keys", async (client) => (await client.keys.list()).keys, isAllowed("keys:read"));
  const instances = useInstances();
  const ready = useQuery("readiness", readiness);
  if (isAllowed("workers:read") && !health.value && !health.error) return undefined;
  return incidentsOf({
    workers: health.value,
    plugins: plugins.value,
    checks: ready.value?.checks,
    keys: keys.value,
    instances: instances.value,
    nowSeconds: Date.now() / 1000,
  });
}
