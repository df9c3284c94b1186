import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import path from "node:path";
import { credentialsOf, redactCredentials } from "./access/credentials.js";
import { daemonDigest, slotDirectories, slotsBesidePackages } from "./isolate-directories.js";
import { HostTable } from "./hosts/host-table.js";
import { SecretStore } from "./secrets/secret-store.js";
import { Principals } from "./access/principals.js";
import type { StateLock } from "./access/state-lock.js";
import { AuditLog } from "./events/audit-log.js";
import { Changes } from "./events/changes.js";
import type { Config } from "./config/config.js";
import { ActiveVersionTracker, RuntimeEvents, eventOfOtherDaemon } from "./events/runtime-events.js";
import { PluginHealthMonitor } from "./health/plugin-health-monitor.js";
import type { Log } from "./log/log.js";
import type { WorkerManifest } from "../shared/worker-manifest.js";
import { namespaceOf } from "../shared/namespace.js";
import type { MetricsHistory } from "./metrics/history/metrics-history.js";
import { PluginCounters } from "./metrics/plugin-counters.js";
import { openHealth } from "./open-health.js";
import { openInstances } from "./open-instances.js";
import { createDiskSpace, createLogRetention, openCron, openKeyStore, openMetricsHistory, openPackageStore } from "./open-stores.js";
import type { Services } from "./services.js";
import { packageVersion } from "./package-root.js";
import { nowSeconds } from "./platform/now-seconds.js";
import { isUploadDirectory, makeDirectories } from "./packages/package-directories.js";
import { WorkerConfigurations } from "./packages/configuration/worker-configurations.js";
import { PackageFiles } from "./packages/files/package-files.js";
import { PackageTools } from "./packages/package-tools.js";
import type { InstalledPlugin } from "./packages/plugin-catalog.js";
import { PluginPackages } from "./packages/plugin-packages.js";
import { assertNotShared, deleteSharingFiles } from "./packages/transactions/directory-lock.js";
import { WorkerPackages } from "./packages/worker-packages.js";
import type { PluginCode } from "./plugins/plugin-code.js";
import { createPluginRouter, type PluginRouter } from "./plugins/plugin-router.js";
import { Plugins } from "./plugins/plugins.js";
import { settingsProblem } from "./plugins/settings-check.js";
import { cronRefusal, type CronCall } from "./workers/cron.js";
import { CopyServer } from "./workers/data/copy-server.js";
import { RequestLog } from "./workers/logs/request-log.js";
import { WorkerLogs } from "./workers/logs/worker-logs.js";
import type { NetworkMode } from "./config/worker-network.js";
import { reservedNames } from "./web/reserved-paths.js";
import { sendStartPage, asksForStartPage } from "./http/start-page.js";
import type { KernelLayers } from "./workers/sandbox/sandbox-policy.js";
import { WorkerEngine } from "./workers/engine/worker-engine.js";

interface ServicesOptions {
  readonly lock: StateLock;
  readonly code: PluginCode;
  readonly kernelLayers: Promise<KernelLayers>;
  readonly networkMode: NetworkMode;
  readonly isStopping: () => boolean;
}

/** The composition root: opens all services and connects them with each other. */
export async function openServices(
  config: Config,
  log: Log,
  { lock, code, kernelLayers, networkMode, isStopping }: ServicesOptions,
): Promise<Services> {
  const { limits, stateDirectory } = config;
  const spoolDirectory = path.join(stateDirectory, "spool");
  // Deletes the files of interrupted uploads.
  await rm(spoolDirectory, { recursive: true, force: true });
  await mkdir(spoolDirectory, { mode: 0o700 });
  const uploadDirectories = [...config.workerDirectories, ...config.pluginDirectories].filter(isUploadDirectory);
  await makeDirectories(uploadDirectories, log);
  if (config.primary) assertNotShared(uploadDirectories);
  let metricsHistory: MetricsHistory | undefined;
  const events = new RuntimeEvents({ now: Date.now, onPublished: (event) => metricsHistory?.noteEvent(event) });
  const { store, registry } = await openKeyStore(config, events, log);
  const diskSpace = createDiskSpace(config);
  const { workerLogSizeBytes: bytesPerWorker, workerLogsTotalBytes: totalBytes } = limits;
  const logs = new WorkerLogs({
    bytesPerWorker,
    totalBytes,
    now: Date.now,
    retention: createLogRetention(config, log, diskSpace),
    onError: (entry) => workerHealth.noteError(entry),
  });
  const besidePackages = await slotsBesidePackages(config);
  const engine: WorkerEngine = new WorkerEngine({
    resolve: (name, range) => packages.resolve(name, range),
    isInstalled: (name, version) => packages.isInstalled(name, version),
    ensure: (version) => packages.ensure(version),
    limits,
    ...slotDirectories(besidePackages, path.join(stateDirectory, "slots")),
    ownUsers: config.workerUids && {
      uids: config.workerUids,
      daemon: stateDirectory,
      namesFile: path.join(stateDirectory, "worker-users.json"),
      slots: slotDirectories(besidePackages, path.join("/run", `runtimed-${daemonDigest(stateDirectory)}`)),
      appDirectories: [config.builtInDirectory, ...config.workerDirectories, ...config.pluginDirectories].filter((folder) =>
        existsSync(folder),
      ),
    },
    permissions: config.workerPermissions,
    network: { ...config.workerNetwork, mode: networkMode },
    isStrict: config.requiresSandbox,
    kernelLayers,
    isStopping,
    closedFolders: [stateDirectory, config.dataDirectory, ...config.workerDirectories, ...config.pluginDirectories],
    observer: {
      spawned: (isolate) => plugins.workerSpawned(isolate),
      terminated: (isolate) => plugins.workerTerminated(isolate),
      troubled: (trouble) => {
        const { name, version, kind, message } = trouble;
        events.publish({ type: `worker.${kind}`, subject: { name, version }, message });
        workerHealth.noteTrouble(trouble);
      },
    },
    isOurKey: (token) => principals.isOurKey(token),
    environmentOf: ({ name, manifest }) => secrets.environmentOf(name, manifest),
    dataDirectory: config.dataDirectory,
    compressedFilesDirectory: path.join(stateDirectory, "compressed-files"),
    logs,
    log,
  });
  const hosts = new HostTable({ records: store.records, config });
  const secrets = await SecretStore.open({
    records: store.records,
    keySource: config.secretsKey,
    hasPrimary: config.primary !== undefined,
    onChange: (owners) => void engine.restartWorkers((worker) => owners.has(worker) || owners.has(namespaceOf(worker) ?? worker)),
    log,
  });
  const principals = new Principals({ store, rootKey: config.rootKey, now: nowSeconds });
  const { healthRecords, workerHealth } = await openHealth(config, {
    meterOf: (name, version) => engine.meterOf(name, version),
    versionsOf: (name) => packages.versionsOf(name),
    fullDataNames: () => engine.storage.full,
    cronFailureOf: (name) => cronJobs.failureOf(name),
    publish: (event) => events.publish(event),
    log,
  });
  const cronSources = { registry, leases: store.leases, logs, call: (call: CronCall) => engine.call(call), now: nowSeconds, log };
  const { cronRuns, cronSlots, cronJobs } = await openCron(config, cronSources);
  const answering = new ActiveVersionTracker((event) => events.publish(event));
  const audit = await AuditLog.open({ directory: path.join(stateDirectory, "audit"), ...config.auditLog, now: Date.now, log });
  const changes = new Changes({ events, audit, redact: (text) => redactCredentials(text, config.rootKey) });
  const tools = new PackageTools(limits);
  const workerSources = {
    directories: config.workerDirectories,
    // The panel is the only built-in worker. If the daemon does not serve the panel, it does not need this directory.
    builtInDirectory: config.servesPanel ? path.join(config.builtInDirectory, "workers") : undefined,
  };
  const pluginSources = { directories: config.pluginDirectories, builtInDirectory: path.join(config.builtInDirectory, "plugins") };
  const refusal = (manifest: WorkerManifest, name: string) => engine.refusal(manifest, name) ?? cronRefusal(manifest);
  const retire = (folder: string, movedTo: string | undefined) => engine.retire(folder, movedTo);
  const packageStores = await openPackageStore(config, { store, engine, tools, log });
  const packages: WorkerPackages = await WorkerPackages.open({
    ...workerSources,
    reservedNames: reservedNames(config.apiBase),
    tools,
    ...packageStores.workers,
    knownFoldersFile: path.join(stateDirectory, "known-workers.json"),
    log,
    refusal,
    onActiveVersion: (name, version) => {
      cronJobs.plan(name, version);
      hosts.noteRequested(name, version?.manifest.hosts ?? []);
      secrets.noteActive(name, version?.manifest.secrets);
      answering.note(name, version?.version);
      workerHealth.noteActive(name, version);
    },
    isPluginBase: (base) => pluginPackages.isBase(base),
    secrets,
    check: (version, kind) => {
      const environment = () => secrets.environmentOf(version.name, version.manifest, { withStaged: true });
      return engine.check(version, environment, kind === "request");
    },
    retire,
    onElsewhere: ({ type, name, version }) => {
      // Deletes the logs and runs of a worker after its last version, because a package store reports a deleted worker as the deletion of
      // each version.
      if (type === "worker.version-deleted" && !packages.isInstalled(name, undefined)) {
        logs.forget(name);
        cronRuns.forget(name);
      }
      events.publish(eventOfOtherDaemon({ type, subject: { name, version } }));
    },
  });
  cronRuns.retain((name) => packages.isInstalled(name, undefined));
  await engine.storage.open();
  metricsHistory = await openMetricsHistory(config, { engine, packages, log });
  const dataCopies = await CopyServer.listen({ stateDirectory, copy: (name) => engine.storage.copy(name), log });
  const pluginPackages: PluginPackages = await PluginPackages.open({
    ...pluginSources,
    isWorker: (name) => packages.isInstalled(name, undefined),
    settingsProblem: (plugin) => settingsProblem(code, plugin),
    reservedNames: reservedNames(config.apiBase),
    tools,
    log,
    refusal,
    retire,
    store: packageStores.shared?.plugins,
  });
  deleteSharingFiles(uploadDirectories);
  if (await pluginPackages.canInstall()) await packageStores.shared?.plugins.start(await pluginPackages.installArea());
  await code.open();
  const pluginCounters = new PluginCounters();
  const plugins: Plugins = new Plugins({
    discover: (upload) => pluginPackages.discover(upload),
    code,
    reserved: new Set([...reservedNames(config.apiBase), ".well-known"]),
    onGone: (name) => pluginCounters.forget(name),
    onReplaced: () => pluginHealth.check(),
    onAppGone: ({ folder }) => void engine.retire(folder, undefined),
    apiBase: config.apiBase,
    version: packageVersion,
    verify: (request) => {
      const headers = pluginRouter.messageOf(request)?.headers ?? (Object.fromEntries(request.headers) as IncomingHttpHeaders);
      return principals.resolve(credentialsOf(headers, config.panelHost))?.principal;
    },
    counter: (plugin, name, help) => pluginCounters.counter(plugin, name, help),
    log,
  });
  const pluginHealth = new PluginHealthMonitor<InstalledPlugin>({
    records: healthRecords,
    discover: () => pluginPackages.discover(),
    statusOf: (plugin) => plugins.statusOf(plugin),
    publish: (event) => events.publish(event),
    now: Date.now,
  });
  const pluginRouter: PluginRouter = createPluginRouter({
    set: () => plugins.set,
    workers: {
      handle: (exchange) => {
        if (asksForStartPage(exchange)) sendStartPage(exchange, config);
        else engine.handle(exchange);
      },
      appAt: (target, host) => engine.appAt(target, host),
      handleApp: ({ name }, exchange, address) =>
        engine.handleApp(exchange, address, () => plugins.set.plugins.find((plugin) => plugin.name === name)?.app),
    },
    apiBase: config.apiBase,
    isHeaderCaller: ({ headers }) => principals.resolve(credentialsOf(headers, config.panelHost))?.channel === "header",
    isOurKey: (token) => principals.isOurKey(token),
    maximumBodyBytes: limits.maxBodySizeBytes,
    onRejected: ({ app, ...rejected }) => {
      const target = app?.kind === "worker" ? packages.resolve(app.name, app.version) : undefined;
      if (target) new RequestLog(logs, target).writeRejection(rejected);
    },
    log,
  });
  await plugins.reload({ isFresh: () => false });
  packageStores.shared?.follow(plugins, events);
  answering.startPublishing();
  cronJobs.start();
  cronSlots?.start();
  workerHealth.start();
  pluginHealth.start();
  const workerFiles = new PackageFiles({ kind: "workers", ...workerSources, owner: packages });
  return {
    lock,
    store,
    records: store.records,
    instances: openInstances(config, { registry, store, packages, engine, plugins, events, log }),
    hosts,
    secrets,
    principals,
    tools,
    packages,
    pluginPackages,
    sharedPackages: packageStores.shared,
    workerFiles,
    workerConfigurations: new WorkerConfigurations({
      packages,
      files: workerFiles,
      rules: {
        limits: { ...limits, permissions: config.workerPermissions, networkMode: engine.networkMode },
        refusal,
        hostProblem: (host) => hosts.reservedReason(host),
      },
    }),
    pluginFiles: new PackageFiles({ kind: "plugins", ...pluginSources, owner: pluginPackages }),
    plugins,
    pluginHealth,
    pluginCounters,
    pluginRouter,
    engine,
    metricsHistory,
    dataCopies,
    cronJobs,
    cronRuns,
    cronSlots,
    workerHealth,
    healthRecords,
    diskSpace,
    logs,
    events,
    audit,
    changes,
    spoolDirectory,
  };
}
