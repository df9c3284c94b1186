import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import type { Worker } from "../../../shared/contract/workers.js";
import { failureShare, requestHealth, type RequestHealth } from "../../../shared/failure-share.js";
import type { Installation } from "../../../shared/installation.js";
import { answeringVersion, toInstalledWorker } from "../../../shared/worker-versions.js";
import type { WorkerVersion } from "../actions/workers.js";

/** A row in the list of workers: one version of a worker with its metrics. */
export interface WorkerRow extends WorkerVersion {
  /** The folder of the worker on the server. */
  readonly folder: string;
  readonly installation: Installation | undefined;
  /** The active version of the worker. */
  readonly answering: string | undefined;
  readonly metrics: WorkerMetrics | undefined;
  readonly health: RequestHealth;
}

/** Returns one row per version, the highest version of a worker first. */
export function workerRows(workers: readonly Worker[], metrics: readonly WorkerMetrics[]): WorkerRow[] {
  const metricsOf = new Map(metrics.map((entry) => [`${entry.name}@${entry.version}`, entry]));
  const byName = new Map<string, Worker[]>();
  for (const worker of workers) byName.set(worker.name, [...(byName.get(worker.name) ?? []), worker]);
  return [...byName].flatMap(([name, listed]) => {
    const worker = toInstalledWorker(name, listed);
    const answering = answeringVersion(worker.versions)?.version;
    return worker.versions.map(({ version, enabled, source, path, installation }) => {
      const ofVersion = metricsOf.get(`${name}@${version}`);
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
        health: requestHealth(ofVersion ? failureShare([ofVersion.requests]) : 0),
      };
    });
  });
}
