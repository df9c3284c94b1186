import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import type { Sparkline } from "../../../shared/contract/metrics-history.js";
import type { Worker } from "../../../shared/contract/workers.js";
import type { WorkerHealth } from "../../../shared/contract/worker-health.js";
import type { Installation } from "../../../shared/installation.js";
import { activeVersionOf, toInstalledWorker } from "../../../shared/worker-versions.js";
import type { WorkerVersion } from "../actions/workers.js";
import type { VersionState } from "../components/state-mark.js";

/** A row in the list of workers: one version of a worker with its metrics. */
export interface WorkerRow extends WorkerVersion {
  /** The folder of the worker on the server. */
  readonly folder: string;
  readonly installation: Installation | undefined;
  /** The active version of the worker. */
  readonly answering: string | undefined;
  readonly metrics: WorkerMetrics | undefined;
  /** The state of the active version. Other versions are `enabled` or `disabled`. */
  readonly state: VersionState;
  /** The cause of a problem. Set only for the active version. */
  readonly health: WorkerHealth | undefined;
  /** Number of requests of the worker in each of the last 60 minutes, oldest first. */
  readonly lastHour: readonly number[];
}

/** Data from the daemon for the rows. Each list can be empty. */
export interface Measurements {
  readonly metrics: readonly WorkerMetrics[];
  readonly health: readonly WorkerHealth[];
  readonly sparklines?: readonly Sparkline[];
}

/** Returns one row per version. The versions of a worker are sorted from highest to lowest. */
export function workerRows(workers: readonly Worker[], { metrics, health, sparklines = [] }: Measurements): WorkerRow[] {
  const healthOf = new Map(health.map((entry) => [entry.name, entry]));
  const lastHourOf = new Map(sparklines.map(({ name, requests }) => [name, requests]));
  const metricsOf = new Map(metrics.map((entry) => [`${entry.name}@${entry.version}`, entry]));
  const byName = new Map<string, Worker[]>();
  for (const worker of workers) byName.set(worker.name, [...(byName.get(worker.name) ?? []), worker]);
  return [...byName].flatMap(([name, listed]) => {
    const worker = toInstalledWorker(name, listed);
    const answering = activeVersionOf(worker.versions)?.version;
    return worker.versions.map(({ version, enabled, source, path, installation }) => {
      const ofVersion = metricsOf.get(`${name}@${version}`);
      const ofActive = version === answering ? healthOf.get(name) : undefined;
      return {
        name,
        version,
        source,
        worker,
        answering,
        isEnabled: enabled,
        isRemovable: listed.find((row) => row.source === source)?.removable ?? false,
        folder: path,
        installation,
        metrics: ofVersion,
        state: enabled ? (ofActive?.state ?? "enabled") : "disabled",
        health: ofActive,
        lastHour: version === answering ? (lastHourOf.get(name) ?? []) : [],
      };
    });
  });
}
