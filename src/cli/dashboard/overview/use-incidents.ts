import { incidentsOf, type Incident } from "../../../shared/incidents.js";
import { useQuery } from "../queries/hooks.js";
import { readiness } from "./readiness.js";

/** Returns the current incidents, the most severe first. Undefined until the daemon has responded. */
export function useIncidents(): readonly Incident[] | undefined {
  const health = useQuery("health", (client) => client.workers.health({ query: {} }));
  const plugins = useQuery("plugins", (client) => client.plugins.list());
  const keys = useQuery("keys", async (client) => (await client.keys.list()).keys);
  const ready = useQuery("readiness", readiness);
  if (!health.value && !health.error) return undefined;
  return incidentsOf({
    workers: health.value,
    plugins: plugins.value,
    checks: ready.value?.checks,
    keys: keys.value,
    nowSeconds: Date.now() / 1000,
  });
}
