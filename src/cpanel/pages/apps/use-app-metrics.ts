import { useMemo } from "react";
import type { DaemonMetrics, Totals, WorkerMetrics } from "../../../shared/contract/metrics.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { appOperations } from "./app-operations.js";

interface Metrics {
  readonly daemon: DaemonMetrics;
  readonly totals: Totals;
  readonly workers: readonly WorkerMetrics[];
}

/** Returns the metrics of one app. If `name` is undefined, returns the metrics of all apps and of the daemon. */
export function useMetrics(name?: string): Resource<Metrics> {
  const api = useApi(appOperations);
  const query = name === undefined ? {} : { worker: name };
  const resourceName = name === undefined ? "metrics.workers" : `metrics.workers ${name}`;
  return useResource<Metrics>(resourceName, () => api.metrics.show({ query }), { isWanted: useMay("workers:read") });
}

/**
 * Returns the metrics rows of each app, by app name. `name` limits the result to one app. The result contains only versions that received
 * requests.
 */
export function useAppMetrics(name?: string): ReadonlyMap<string, readonly WorkerMetrics[]> {
  const { data } = useMetrics(name);
  return useMemo(() => byName(data?.workers ?? []), [data]);
}

function byName(rows: readonly WorkerMetrics[]): ReadonlyMap<string, readonly WorkerMetrics[]> {
  const named = new Map<string, WorkerMetrics[]>();
  for (const row of rows) {
    const known = named.get(row.name);
    if (known) known.push(row);
    else named.set(row.name, [row]);
  }
  return named;
}
