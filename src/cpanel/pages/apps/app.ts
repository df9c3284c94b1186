import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import type { Deployment } from "../../../shared/deployment.js";
import { failureShare } from "../../../shared/failure-share.js";
import type { Worker } from "../../../shared/contract/workers.js";
import { activeVersionOf, toInstalledWorker, type InstalledVersion, type InstalledWorker } from "../../../shared/worker-versions.js";

/** A worker with all its versions, uploaded and built-in. */
export interface App extends InstalledWorker {
  readonly isBuiltIn: boolean;
  /** The active version. Undefined if all versions are disabled. */
  readonly serving: InstalledVersion | undefined;
  /** Namespace of the app, such as `@team`. Empty without a namespace. */
  readonly namespace: string;
  readonly deploys: Readonly<Record<string, Deployment>>;
}

/**
 * Converts the API's list of workers to a list of apps, sorted by name. In the API's list, a worker can have two rows: one for its built-in
 * versions and one for its uploaded versions.
 */
export function toApps(workers: readonly Worker[]): readonly App[] {
  const byName = new Map<string, Worker[]>();
  for (const worker of workers) {
    const known = byName.get(worker.name);
    if (known) known.push(worker);
    else byName.set(worker.name, [worker]);
  }
  const apps = [...byName].map(([name, rows]) => toApp(name, rows));
  return apps.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function toApp(name: string, rows: readonly Worker[]): App {
  const worker = toInstalledWorker(name, rows);
  return {
    ...worker,
    isBuiltIn: rows.every(({ source }) => source === "built-in"),
    serving: activeVersionOf(worker.versions),
    namespace: name.startsWith("@") ? name.slice(0, name.indexOf("/")) : "",
    deploys: Object.assign({}, ...rows.map(({ deploys }) => deploys)) as App["deploys"],
  };
}

/** Combined metrics of all versions of an app. */
export interface AppActivity {
  readonly requestsPerSecond: number;
  readonly requests: number;
  readonly failed: number;
  /** Share of failed requests, from 0 to 1. */
  readonly failureShare: number;
  readonly isolates: number;
  readonly memoryBytes: number;
  /** Sum of the memory limits of all isolates of the app, in bytes. Undefined if no isolate runs. */
  readonly memoryLimitBytes: number | undefined;
  /** Median latency of the slowest version in the last minute. Null without requests. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** Returns when and by which key a version was installed. Undefined for a version that was not uploaded. */
export function deployedOf(
  { deploys }: Pick<App, "deploys">,
  { version, installation }: InstalledVersion,
): { readonly at: number; readonly by: string | undefined } | undefined {
  const deploy = deploys[version];
  const at = installation?.at ?? deploy?.at;
  return at === undefined ? undefined : { at, by: installation?.by ?? deploy?.by };
}

export function activityOf(metrics: readonly WorkerMetrics[]): AppActivity {
  const sum = (read: (row: WorkerMetrics) => number) => metrics.reduce((total, row) => total + read(row), 0);
  return {
    requestsPerSecond: sum(({ requests }) => requests.perSecond),
    requests: sum(({ requests }) => requests.total),
    failed: sum(({ requests }) => requests.failed),
    failureShare: failureShare(metrics.map(({ requests }) => requests)),
    isolates: sum(({ isolates }) => isolateCount(isolates)),
    memoryBytes: sum(({ memory }) => memory.pssBytes ?? memory.rssBytes),
    memoryLimitBytes: sum(({ memoryLimitBytes, isolates }) => (memoryLimitBytes ?? 0) * isolateCount(isolates)) || undefined,
    p50Ms: highest(metrics.map(({ latency }) => latency.recent.p50Ms)),
    p99Ms: highest(metrics.map(({ latency }) => latency.recent.p99Ms)),
  };
}

function isolateCount({ running, starting, draining }: WorkerMetrics["isolates"]): number {
  return running + starting + draining;
}

function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
