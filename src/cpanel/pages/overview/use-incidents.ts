import { useMemo } from "react";
import { ready, type HealthCheck } from "../../../shared/contract/health.js";
import * as keysContract from "../../../shared/contract/keys.js";
import * as pluginsContract from "../../../shared/contract/plugins.js";
import { incidentsOf, type Incident } from "../../../shared/incidents.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { useAppHealth } from "../apps/use-app-health.js";
import { useInstances } from "../instances/use-instances.js";

const operations = { health: { ready }, plugins: { list: pluginsContract.list }, keys: { list: keysContract.list } };
const checkIntervalMs = 60_000;

export interface Incidents {
  /** All incidents, the most severe first. */
  readonly incidents: readonly Incident[];
  /** Whether all sources that the key is allowed to read have responded. */
  readonly isLoaded: boolean;
  /** Error of a source. Undefined if all sources responded to the last request. */
  readonly error: unknown;
  readonly plugins: Resource<readonly pluginsContract.Plugin[]>;
  readonly keys: Resource<readonly keysContract.ApiKey[]>;
  /** Results of all health checks. Undefined if the key is not allowed to read them, or until the daemon responds. */
  readonly checks: readonly HealthCheck[] | undefined;
}

/** Returns all incidents that the key is allowed to read. */
export function useIncidents(): Incidents {
  const api = useApi(operations);
  const [mayWorkers, mayPlugins, mayKeys] = [useMay("workers:read"), useMay("plugins:read"), useMay("keys:read")];
  const { resource: apps } = useAppHealth();
  const plugins = useResource<readonly pluginsContract.Plugin[]>("plugins", () => api.plugins.list(), { isWanted: mayPlugins });
  const keys = useResource<readonly keysContract.ApiKey[]>("keys", async () => (await api.keys.list()).keys, { isWanted: mayKeys });
  const checks = useResource("health.verbose", () => api.health.ready({ query: { verbose: "1" } }), {
    intervalMs: checkIntervalMs,
    isWanted: mayKeys,
  });
  const { data: instances } = useInstances();
  const incidents = useMemo(
    () =>
      incidentsOf({
        workers: apps.data,
        plugins: plugins.data,
        checks: checks.data?.checks,
        keys: keys.data,
        instances,
        nowSeconds: Date.now() / 1000,
      }),
    [apps.data, plugins.data, checks.data, keys.data, instances],
  );
  const sources = [...(mayWorkers ? [apps] : []), ...(mayPlugins ? [plugins] : []), ...(mayKeys ? [keys] : [])];
  return {
    incidents,
    isLoaded: sources.every(({ data }) => data !== undefined),
    error: sources.find(({ error }) => error !== undefined)?.error,
    plugins,
    keys,
    checks: checks.data?.checks,
  };
}
