import { statfs } from "node:fs/promises";
import path from "node:path";
import type { KeyStore } from "./access/key-store.js";
import { LocalKeyStore } from "./access/local-key-store.js";
import { ReplicatedKeyStore } from "./access/replica/replicated-key-store.js";
import type { Config } from "./config/config.js";
import type { RuntimeEvents } from "./events/runtime-events.js";
import { DiskSpace } from "./health/disk-space.js";
import { daemonDigest } from "./isolate-directories.js";
import type { Log } from "./log/log.js";
import { MetricsHistory } from "./metrics/history/metrics-history.js";
import { OciPackageStore } from "./package-store/oci-package-store.js";
import { directoryStore } from "./packages/directory-store.js";
import { StoredVersions, type StoredVersionsOptions } from "./package-store/stored-versions.js";
import type { WorkerPackagesOptions } from "./packages/worker-packages-options.js";
import { OciBlobStore } from "./registry/oci-blob-store.js";
import { RegistryClient } from "./registry/registry-client.js";
import type { RecordStore } from "./storage/record-store.js";
import type { WorkerPackages } from "./packages/worker-packages.js";
import type { LeaseStore } from "./storage/lease-store.js";
import type { WorkerEngine } from "./workers/engine/worker-engine.js";
import { CronRuns } from "./workers/cron-runs.js";
import { CronSlots } from "./workers/cron-slots.js";
import { CronJobs, type CronJobsOptions } from "./workers/cron.js";
import { LogFiles } from "./workers/logs/log-files.js";
import { LogRetention } from "./workers/logs/log-retention.js";
import type { WorkerLogs } from "./workers/logs/worker-logs.js";

/** Opens the local key store or, if a primary is configured, the replica of the primary. */
export function openKeyStore(
  { primary, stateDirectory, instanceName }: Config,
  events: RuntimeEvents,
  log: Log,
): KeyStore | Promise<KeyStore> {
  if (!primary) return new LocalKeyStore({ stateDirectory, log });
  return ReplicatedKeyStore.open({
    source: primary,
    stateDirectory,
    instance: { id: daemonDigest(stateDirectory), name: instanceName },
    onForeignChange: ({ type, ...subject }) => events.publish({ type, subject, message: "by another daemon" }),
    log,
  });
}

/** Opens the runs of cron jobs and creates the jobs. With a primary, leases decide which daemon runs a job. */
export async function openCron(
  { primary, stateDirectory }: Config,
  { leases, logs, call, now, log }: CronSources,
): Promise<{ cronRuns: CronRuns; cronSlots: CronSlots | undefined; cronJobs: CronJobs }> {
  const cronRuns = await CronRuns.open({ file: path.join(stateDirectory, "cron-runs.jsonl"), log });
  const tell = ({ name, version }: { name: string; version: string }, level: "debug" | "warn", text: string) =>
    logs.write({ name, version, level, source: "runtime", text });
  const cronSlots =
    primary &&
    new CronSlots({
      leases,
      instanceId: daemonDigest(stateDirectory),
      onUnknown: ({ worker: name, version, schedule, instance, slotMs }) => {
        const time = new Date(slotMs).toISOString();
        tell({ name, version }, "warn", `Cron ${schedule} at ${time} is unknown: ${instance} stopped during the run or before it.`);
      },
      log,
    });
  return { cronRuns, cronSlots, cronJobs: new CronJobs({ runs: cronRuns, slots: cronSlots, now, call, tell }) };
}

interface CronSources extends Pick<CronJobsOptions, "call" | "now"> {
  readonly leases: LeaseStore;
  readonly logs: WorkerLogs;
  readonly log: Log;
}

/** Opens the package store: the worker directories or, if a registry is configured, the registry and the records of versions. */
export async function openPackageStore(
  { packageSource }: Config,
  { records, useOf, log }: Pick<StoredVersionsOptions, "useOf" | "log"> & { readonly records: RecordStore },
): Promise<Pick<WorkerPackagesOptions, "store" | "createStored">> {
  if (!packageSource) return { store: directoryStore };
  const { cacheSizeBytes } = packageSource;
  const store = new OciPackageStore({ records, blobs: new OciBlobStore(await RegistryClient.at(packageSource)), log });
  return { store, createStored: (options) => new StoredVersions({ ...options, store, cacheSizeBytes, useOf }) };
}

/** Creates the files that keep the entries of worker logs. */
export function createLogRetention({ stateDirectory, limits }: Config, log: Log, diskSpace: DiskSpace): LogRetention {
  const files = new LogFiles({ directory: path.join(stateDirectory, "logs"), bytesPerWorker: limits.logRetentionSizeBytes });
  const onError = (error: unknown): void => {
    diskSpace.noteError(error);
    log.warn({ err: error }, "entries of worker logs could not be written to disk");
  };
  return new LogRetention({ files, onError });
}

/** Creates the check of the free space in all directories of the daemon. */
export function createDiskSpace({ stateDirectory, dataDirectory, workerDirectories, pluginDirectories }: Config): DiskSpace {
  return new DiskSpace({
    directories: [
      { kind: "state", path: stateDirectory },
      { kind: "data", path: dataDirectory },
      ...workerDirectories.map((directory) => ({ kind: "workers" as const, path: directory })),
      ...pluginDirectories.map((directory) => ({ kind: "plugins" as const, path: directory })),
    ],
    statfs,
    now: Date.now,
  });
}

/** Opens the history of metrics below the state directory. */
export async function openMetricsHistory(
  { stateDirectory, limits }: Config,
  { engine, packages, log }: { engine: WorkerEngine; packages: WorkerPackages; log: Log },
): Promise<MetricsHistory> {
  const history = new MetricsHistory({
    directory: path.join(stateDirectory, "metrics-history"),
    sizeBytes: limits.metricsHistorySizeBytes,
    numbers: () => engine.numbers(),
    activeVersionOf: (name) => packages.resolve(name, undefined)?.version,
    isInstalled: (name) => packages.isInstalled(name, undefined),
    now: Date.now,
    log,
  });
  await history.open();
  return history;
}
