import type { KeyStore } from "./access/key-store.js";
import type { HostTable } from "./hosts/host-table.js";
import type { SecretStore } from "./secrets/secret-store.js";
import type { Principals } from "./access/principals.js";
import type { StateLock } from "./access/state-lock.js";
import type { AuditLog } from "./events/audit-log.js";
import type { Changes } from "./events/changes.js";
import type { RuntimeEvents } from "./events/runtime-events.js";
import type { DiskSpace } from "./health/disk-space.js";
import type { HealthRecords } from "./health/health-records.js";
import type { Instances } from "./open-instances.js";
import type { PluginHealthMonitor } from "./health/plugin-health-monitor.js";
import type { WorkerHealthMonitor } from "./health/worker-health-monitor.js";
import type { MetricsHistory } from "./metrics/history/metrics-history.js";
import type { PluginCounters } from "./metrics/plugin-counters.js";
import type { WorkerConfigurations } from "./packages/configuration/worker-configurations.js";
import type { PackageFiles } from "./packages/files/package-files.js";
import type { SharedPackages } from "./open-stores.js";
import type { PackageTools } from "./packages/package-tools.js";
import type { InstalledPlugin } from "./packages/plugin-catalog.js";
import type { PluginPackages } from "./packages/plugin-packages.js";
import type { WorkerPackages } from "./packages/worker-packages.js";
import type { PluginRouter } from "./plugins/plugin-router.js";
import type { Plugins } from "./plugins/plugins.js";
import type { CronRuns } from "./workers/cron-runs.js";
import type { CronSlots } from "./workers/cron-slots.js";
import type { CronJobs } from "./workers/cron.js";
import type { CopyServer } from "./workers/data/copy-server.js";
import type { WorkerLogs } from "./workers/logs/worker-logs.js";
import type { RecordStore } from "./storage/record-store.js";
import type { WorkerEngine } from "./workers/engine/worker-engine.js";

/** The open services of a daemon. */
export interface Services {
  readonly lock: StateLock;
  readonly store: KeyStore;
  /** Rows of other services that the key store contains in addition to the keys. */
  readonly records: RecordStore;
  readonly instances: Instances;
  readonly principals: Principals;
  readonly hosts: HostTable;
  readonly secrets: SecretStore;
  readonly tools: PackageTools;
  readonly packages: WorkerPackages;
  readonly pluginPackages: PluginPackages;
  /** Undefined if the folders are the only record of the packages. */
  readonly sharedPackages: SharedPackages | undefined;
  readonly workerFiles: PackageFiles;
  readonly pluginFiles: PackageFiles;
  readonly workerConfigurations: WorkerConfigurations;
  readonly plugins: Plugins;
  readonly pluginHealth: PluginHealthMonitor<InstalledPlugin>;
  readonly pluginCounters: PluginCounters;
  readonly pluginRouter: PluginRouter;
  readonly engine: WorkerEngine;
  readonly metricsHistory: MetricsHistory;
  readonly dataCopies: CopyServer;
  readonly cronJobs: CronJobs;
  readonly cronRuns: CronRuns;
  /** Undefined without a primary. */
  readonly cronSlots: CronSlots | undefined;
  readonly workerHealth: WorkerHealthMonitor;
  readonly healthRecords: HealthRecords;
  readonly diskSpace: DiskSpace;
  readonly logs: WorkerLogs;
  readonly events: RuntimeEvents;
  readonly audit: AuditLog;
  readonly changes: Changes;
  readonly spoolDirectory: string;
}
