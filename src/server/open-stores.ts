import { statfs } from "node:fs/promises";
import path from "node:path";
import type { KeyStore } from "./access/key-store.js";
import { LocalKeyStore } from "./access/local-key-store.js";
import type { Config } from "./config/config.js";
import type { PrimarySource } from "./config/primary-source.js";
import { eventOfOtherDaemon, type RuntimeEvents } from "./events/runtime-events.js";
import { DiskSpace } from "./health/disk-space.js";
import { InstanceRegistry } from "./instances/instance-registry.js";
import { openOwnInstance, type OwnInstance } from "./instances/own-instance.js";
import type { Log } from "./log/log.js";
import { MetricsHistory } from "./metrics/history/metrics-history.js";
import type { UseOf } from "./package-store/package-cache.js";
import type { StoredPlugins } from "./package-store/stored-plugins.js";
import type { PackageTools } from "./packages/package-tools.js";
import type { Plugins } from "./plugins/plugins.js";
import { packageVersion } from "./package-root.js";
import { directoryStore } from "./packages/directory-store.js";
import type { WorkerPackagesOptions } from "./packages/worker-packages-options.js";
import type { WorkerPackages } from "./packages/worker-packages.js";
import type { LeaseStore } from "./storage/lease-store.js";
import type { WorkerEngine } from "./workers/engine/worker-engine.js";
import { CronRuns } from "./workers/cron-runs.js";
import { CronSlots } from "./workers/cron-slots.js";
import { CronJobs, type CronJobsOptions } from "./workers/cron.js";
import { LogFiles } from "./workers/logs/log-files.js";
import { LogRetention } from "./workers/logs/log-retention.js";
import type { WorkerLogs } from "./workers/logs/worker-logs.js";

/** Opens the local key store or, if a primary is configured, the replica of the primary. Also lists the daemons with this primary. */
export async function openKeyStore(
  config: Config,
  events: RuntimeEvents,
  log: Log,
): Promise<{ store: KeyStore; registry: InstanceRegistry }> {
  const { primary, stateDirectory } = config;
  const own = await openOwnInstance(config, packageVersion);
  const store = primary
    ? await openReplicatedKeyStore(primary, { stateDirectory, own, events, log })
    : new LocalKeyStore({ stateDirectory, log });
  const { records, leases } = store;
  return { store, registry: new InstanceRegistry({ own, records, leases, isShared: primary !== undefined, log }) };
}

/** Loads the code for a primary and opens the replica. A daemon without primary does not load this code. */
async function openReplicatedKeyStore(
  source: PrimarySource,
  { stateDirectory, own, events, log }: { stateDirectory: string; own: OwnInstance; events: RuntimeEvents; log: Log },
): Promise<KeyStore> {
  const [{ ReplicatedKeyStore }, { DivergedError }] = await Promise.all([
    import("./access/replica/replicated-key-store.js"),
    import("./access/replica/divergence.js"),
  ]);
  return await ReplicatedKeyStore.open({
    source,
    stateDirectory,
    instance: own,
    onForeignChange: ({ type, ...subject }) => events.publish(eventOfOtherDaemon({ type, subject })),
    onDivergence: (divergence) =>
      events.publish({
        type: divergence ? "index.diverged" : "index.resynced",
        message: divergence ? new DivergedError(divergence).message : "the primary has all rows of this daemon",
      }),
    log,
  });
}

/** Opens the runs of cron jobs and creates the jobs. With a primary, leases decide which daemon runs a job. */
export async function openCron(
  { primary, stateDirectory }: Config,
  { registry, leases, logs, call, now, log }: CronSources,
): Promise<{ cronRuns: CronRuns; cronSlots: CronSlots | undefined; cronJobs: CronJobs }> {
  const cronRuns = await CronRuns.open({ file: path.join(stateDirectory, "cron-runs.jsonl"), log });
  const writeLog = ({ name, version }: { name: string; version: string }, level: "debug" | "warn", text: string) =>
    logs.write({ name, version, level, source: "runtime", text });
  const cronSlots =
    primary &&
    new CronSlots({
      leases,
      instanceId: registry.own.id,
      isDraining: () => registry.isDraining,
      onUnknown: ({ worker: name, version, schedule, instance, slotMs }) => {
        const time = new Date(slotMs).toISOString();
        writeLog({ name, version }, "warn", `Cron ${schedule} at ${time} is unknown: ${instance} stopped during the run or before it.`);
      },
      log,
    });
  return { cronRuns, cronSlots, cronJobs: new CronJobs({ runs: cronRuns, slots: cronSlots, now, call, writeLog }) };
}

interface CronSources extends Pick<CronJobsOptions, "call" | "now"> {
  readonly registry: InstanceRegistry;
  readonly leases: LeaseStore;
  readonly logs: WorkerLogs;
  readonly log: Log;
}

/** Opens the package store: the worker directories or, if a registry is configured, the registry and the records of versions. */
export async function openPackageStore(
  { packageSource, primary }: Config,
  { store: { records, leases }, engine, tools, log }: PackageStoreSources,
): Promise<{ workers: Pick<WorkerPackagesOptions, "store" | "createStored">; shared: SharedPackages | undefined }> {
  if (!packageSource) return { workers: { store: directoryStore }, shared: undefined };
  const { cacheSizeBytes } = packageSource;
  const [{ openOciStores }, { StoredPlugins }, { StoredVersions }] = await Promise.all([
    import("./package-store/oci-stores.js"),
    import("./package-store/stored-plugins.js"),
    import("./package-store/stored-versions.js"),
  ]);
  const stores = await openOciStores({ source: packageSource, records, leases, isShared: primary !== undefined, log });
  const { archives, collector, versions: store } = stores;
  const useOf: UseOf = (version) => engine().useOf(version);
  const retire = (folder: string, movedTo: string | undefined) => engine().retire(folder, movedTo);
  const plugins = new StoredPlugins({ archives, rows: stores.plugins, tools, retire, log });
  return {
    workers: { store, createStored: (options) => new StoredVersions({ ...options, store, archives, cacheSizeBytes, useOf }) },
    shared: {
      plugins,
      problem: () => archives.problem(),
      follow: (loaded, events) =>
        plugins.follow({
          activate: (upload, place) => loaded.install(upload, place),
          reload: () => loaded.reload({ isFresh: () => false }),
          onElsewhere: ({ type, name }) => events.publish(eventOfOtherDaemon({ type, subject: { name } })),
        }),
      close: () => collector.close(),
    },
  };
}

interface PackageStoreSources {
  readonly store: Pick<KeyStore, "records" | "leases">;
  /** Returns the engine, which is created after the store. */
  readonly engine: () => WorkerEngine;
  readonly tools: PackageTools;
  readonly log: Log;
}

/** The packages that several daemons share through a registry. */
export interface SharedPackages {
  readonly plugins: StoredPlugins;
  /** Returns the reason why the registry cannot be used, or undefined. */
  readonly problem: () => string | undefined;
  /** Applies changes of other daemons to the loaded plugins from now on, and publishes events about them. */
  readonly follow: (loaded: Plugins, events: RuntimeEvents) => void;
  readonly close: () => void;
}

/** Creates the files that keep the entries of worker logs. */
export function createLogRetention({ stateDirectory, limits }: Config, log: Log, diskSpace: DiskSpace): LogRetention {
  const files = new LogFiles({ directory: path.join(stateDirectory, "logs"), bytesPerWorker: limits.logRetentionSizeBytes });
  const onError = (error: unknown): void => {
    diskSpace.noteError(error);
    log.warn(
      { err: error },
      "entries of worker logs could not be written to disk: check the free space and the permissions of the state directory",
    );
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
