import type { PluginMetrics, ShownMetrics, WorkerMetrics } from "../../shared/contract/metrics.js";
import { totalsOf } from "./worker-reading.js";

type Latency = WorkerMetrics["latency"]["sinceStart"];

/**
 * Adds up the metrics of several daemons. Percentiles of request durations cannot be added, so each is the highest percentile of all
 * daemons. Omits `plugins` if no daemon sent metrics of plugins.
 */
export function mergeMetrics(
  daemons: readonly Pick<ShownMetrics, "totals" | "workers" | "plugins">[],
): Pick<ShownMetrics, "totals" | "workers" | "plugins"> {
  const plugins = daemons.flatMap((daemon) => (daemon.plugins ? [daemon.plugins] : []));
  return {
    totals: totalsOf(daemons.map(({ totals }) => totals)),
    workers: mergeWorkers(daemons.flatMap(({ workers }) => workers)),
    ...(plugins.length > 0 && { plugins: mergePlugins(plugins.flat()) }),
  };
}

/** Adds up the metrics of the same worker version. Sorts by name, then version. */
function mergeWorkers(workers: readonly WorkerMetrics[]): WorkerMetrics[] {
  const groups = groupBy(workers, ({ name, version }) => `${name} ${version ?? ""}`);
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, rows]) => mergeVersion(rows));
}

function mergeVersion(rows: readonly [WorkerMetrics, ...WorkerMetrics[]]): WorkerMetrics {
  const [{ name, version }] = rows;
  const recent = rows.map(({ latency }) => latency.recent);
  return {
    name,
    version,
    kind: rows.find(({ kind }) => kind !== null)?.kind ?? null,
    memoryLimitBytes: highest(rows.map(({ memoryLimitBytes }) => memoryLimitBytes ?? null)),
    ...totalsOf(rows),
    latency: {
      recent: { ...mergeLatency(recent), windowSeconds: Math.max(...recent.map(({ windowSeconds }) => windowSeconds)) },
      sinceStart: mergeLatency(rows.map(({ latency }) => latency.sinceStart)),
    },
  };
}

function mergeLatency(daemons: readonly Latency[]): Latency {
  return {
    count: daemons.reduce((sum, { count }) => sum + count, 0),
    p50Ms: highest(daemons.map(({ p50Ms }) => p50Ms)),
    p90Ms: highest(daemons.map(({ p90Ms }) => p90Ms)),
    p99Ms: highest(daemons.map(({ p99Ms }) => p99Ms)),
    maximumMs: highest(daemons.map(({ maximumMs }) => maximumMs)),
  };
}

/** Adds up the values of the same counter with the same labels. */
function mergePlugins(plugins: readonly PluginMetrics[]): PluginMetrics[] {
  return [...groupBy(plugins, ({ plugin }) => plugin)].map(([plugin, same]) => ({
    plugin,
    counters: [
      ...groupBy(
        same.flatMap(({ counters }) => counters),
        ({ name }) => name,
      ).values(),
    ].map((counters) => ({
      name: counters[0].name,
      help: counters[0].help,
      values: [
        ...groupBy(
          counters.flatMap(({ values }) => values),
          ({ labels }) => JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1))),
        ).values(),
      ].map((values) => ({ labels: values[0].labels, value: values.reduce((sum, { value }) => sum + value, 0) })),
    })),
  }));
}

/** Returns the highest number, or null without numbers. */
function highest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (most === null || (value !== null && value > most) ? value : most), null);
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, [Item, ...Item[]]> {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
