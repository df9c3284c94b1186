import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import type { Deployment } from "../../../shared/deployment.js";
import { failureShare } from "../../../shared/failure-share.js";
import type { Worker } from "../../../shared/contract/workers.js";
import { answeringVersion, toInstalledWorker, type InstalledVersion, type InstalledWorker } from "../../../shared/worker-versions.js";

/** A worker as people see it: all its versions, wherever they come from. */
export interface App extends InstalledWorker {
  readonly isBuiltIn: boolean;
  /** What its own URL leads to; undefined when every version is off. */
  readonly serving: InstalledVersion | undefined;
  /** `@team`, or empty. */
  readonly namespace: string;
  readonly deploys: Readonly<Record<string, Deployment>>;
}

/** The list has a row for each source of a worker; an app is all of them. By name. */
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
    serving: answeringVersion(worker.versions),
    namespace: name.startsWith("@") ? name.slice(0, name.indexOf("/")) : "",
    deploys: Object.assign({}, ...rows.map(({ deploys }) => deploys)) as App["deploys"],
  };
}

/** What all versions of an app do together. */
export interface AppActivity {
  readonly requestsPerSecond: number;
  readonly requests: number;
  readonly failed: number;
  /** 0 to 1. */
  readonly failureShare: number;
  readonly isolates: number;
  readonly memoryBytes: number;
}

export function activityOf(metrics: readonly WorkerMetrics[]): AppActivity {
  const sum = (read: (row: WorkerMetrics) => number) => metrics.reduce((total, row) => total + read(row), 0);
  return {
    requestsPerSecond: sum(({ requests }) => requests.perSecond),
    requests: sum(({ requests }) => requests.total),
    failed: sum(({ requests }) => requests.failed),
    failureShare: failureShare(metrics.map(({ requests }) => requests)),
    isolates: sum(({ isolates }) => isolates.running + isolates.starting + isolates.draining),
    memoryBytes: sum(({ memory }) => memory.pssBytes ?? memory.rssBytes),
  };
}
