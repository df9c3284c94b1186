import path from "node:path";
import { accessWarnings, type AccessWarning } from "./access/access-warnings.js";
import type { Principals } from "./access/principals.js";
import { StateLock } from "./access/state-lock.js";
import { createAuditHandlers } from "./api/audit.js";
import { createCronHandlers } from "./api/cron.js";
import { createDataHandlers } from "./api/data.js";
import { createDiscoveryHandlers, createDocumentationHandlers } from "./api/discovery.js";
import { createEventsHandlers } from "./api/events.js";
import { createFileHandlers } from "./api/files.js";
import { createHealthHandlers, type Readiness } from "./api/health.js";
import { createHostHandlers } from "./api/hosts.js";
import { createInstanceHandlers } from "./api/instances.js";
import { createIsolateHandlers } from "./api/isolates.js";
import { createKeyHandlers } from "./api/keys.js";
import { createMetricsHandlers } from "./api/metrics.js";
import { createPluginConfigHandlers } from "./api/plugin-config.js";
import { createPluginHandlers } from "./api/plugins.js";
import { createSecretHandlers } from "./api/secrets.js";
import { createSessionHandlers } from "./api/session.js";
import { createIndexHandlers } from "./api/shared-index.js";
import { createSettingsHandlers } from "./api/settings.js";
import { createLogHandlers } from "./api/logs.js";
import { createWorkerConfigHandlers } from "./api/worker-config.js";
import { createWorkerHandlers } from "./api/workers.js";
import { finishRestore } from "./backup/pending-restore.js";
import type { Config } from "./config/config.js";
import { Listeners, type RequestHandlers, type Origins } from "./listeners.js";
import { createApiApp } from "./http/koa-app.js";
import { EventStreams } from "./http/event-streams.js";
import type { Handlers } from "./http/handler.js";
import { respondWhileStarting } from "./http/starting.js";
import { PrometheusExporter } from "./metrics/prometheus-exporter.js";
import type { Log } from "./log/log.js";
import { IsolateReadings } from "./metrics/isolate-readings.js";
import { Metrics } from "./metrics/metrics.js";
import { UploadMeter } from "./metrics/upload-meter.js";
import { packageRoot } from "./package-root.js";
import { PluginConfigurations } from "./packages/configuration/plugin-configurations.js";
import { PluginCode } from "./plugins/plugin-code.js";
import { openServices } from "./composition.js";
import { openNewestChanges } from "./open-newest-changes.js";
import { nowSeconds } from "./platform/now-seconds.js";
import type { Services } from "./services.js";
import { readRootKeyFile, ownRootKeyName, type RootKeyFile } from "./config/root-key.js";
import { openStateDirectory } from "./config/state-directory.js";
import type { NetworkMode } from "./config/worker-network.js";
import { defaultNetworkMode } from "./workers/network/network-default.js";
import { assertSandbox } from "./workers/sandbox/isolation-layers.js";
import { probeKernelLayers } from "./workers/sandbox/probe-kernel-layers.js";
import { degradationOf, readReadiness } from "./readiness.js";
import { readSettings } from "./settings.js";

/** The lifecycle of the daemon: listens, opens the services, serves requests, and closes the services in a fixed order. */
export class Daemon {
  readonly #config: Config;
  readonly #log: Log;
  /** Loader of plugin code. Created before the other services, because code of a plugin can fail while the other services are opened. */
  readonly #pluginCode: PluginCode;
  #isolationLogged: Promise<void> = Promise.resolve();
  #phase: "starting" | "ready" | "draining" = "starting";
  #services: Services | undefined;
  #listeners: Listeners | undefined;
  readonly #streams = new EventStreams();
  #metrics: Metrics | undefined;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#pluginCode = new PluginCode({ directory: path.join(config.stateDirectory, "plugin-code"), packageRoot });
  }

  /** Listens immediately, and serves requests after all services are open. Resolves with the origins of the listeners. */
  async start(): Promise<Origins> {
    const { apiBase, stateDirectory } = this.#config;
    await openStateDirectory(stateDirectory);
    const networkMode = await this.#networkMode();
    const kernelLayers = probeKernelLayers();
    if (this.#config.requiresSandbox) assertSandbox(await kernelLayers);
    const lock = new StateLock(stateDirectory);
    if (await finishRestore(stateDirectory)) this.#log.info("interrupted restore finished");
    const handlers: RequestHandlers = {
      api: (request, response) => respondWhileStarting(apiBase, request, response),
      hostTargetOf: () => undefined,
      serve: ({ request, response, requestId }) => respondWhileStarting(apiBase, request, response, requestId),
    };
    const listeners = new Listeners({ apiBase, handlers: handlers, config: this.#config });
    this.#listeners = listeners;
    // Inherited sockets accept connections only after the daemon is ready. Until then, the kernel queues the connections, and clients
    // receive no 503.
    if (!listeners.isHandedOver) await listeners.listen();
    const isStopping = () => this.#phase === "draining";
    const services = await openServices(this.#config, this.#log, { lock, code: this.#pluginCode, kernelLayers, networkMode, isStopping });
    this.#services = services;
    const app = createApiApp({
      handlers: this.#handlers(services),
      principals: services.principals,
      config: this.#config,
      spoolDirectory: services.spoolDirectory,
      streams: this.#streams,
      newestChanges: this.#config.primary && openNewestChanges(services),
      changes: services.changes,
      keys: services.store,
      isStopping,
      onFailure: (error) => services.diskSpace.noteError(error),
      log: this.#log,
    });
    handlers.api = app.callback();
    handlers.hostTargetOf = (host) => services.hosts.find(host);
    handlers.serve = (exchange) => services.pluginRouter.serve(exchange);
    const origins = await listeners.listen();
    if (!isStopping()) this.#phase = "ready";
    if (this.#config.rootKey === undefined && services.store.list().length === 0)
      this.#log.warn(
        "no root key and no stored key exist, so the API denies every call: set RUNTIME_ROOT_KEY_FILE to a file with a long random text, and restart",
      );
    const { address, admin } = origins;
    this.#log.info({ address, ...(admin === address ? {} : { admin }), api: apiBase }, "listening");
    for (const taken of listeners.takenAddresses)
      this.#log.warn(
        { address: taken },
        "another program listens at this address, and browsers can reach it as localhost instead of the daemon: stop that program, or set HOST and PORT to a free address",
      );
    this.#isolationLogged = this.#logIsolation(services);
    for (const { message } of this.#accessWarnings(services)) if (message !== undefined) this.#log.warn(message);
    if (this.#config.panelHost && this.#config.publicUrl === undefined)
      this.#log.warn(
        "RUNTIME_PANEL_HOST is set without RUNTIME_PUBLIC_URL, so the panel cannot link to workers: set RUNTIME_PUBLIC_URL to the URL of the workers",
      );
    await services.plugins.serverStarted({ address });
    return origins;
  }

  async #networkMode(): Promise<NetworkMode> {
    if (this.#config.workerNetwork.mode !== undefined) return this.#config.workerNetwork.mode;
    const { mode, isChosen } = await defaultNetworkMode(this.#config.stateDirectory, [ownRootKeyName]);
    if (!isChosen)
      this.#log.warn(
        `workers can connect to ${mode} addresses, including private networks and this machine: set RUNTIME_WORKER_NETWORK to public, or to all if workers need such addresses`,
      );
    return mode;
  }

  /** Resolves when the daemon has logged the isolation layers. The daemon logs the layers after the first isolate has started. */
  get isolationLogged(): Promise<void> {
    return this.#isolationLogged;
  }

  async #logIsolation({ engine }: Services): Promise<void> {
    const layers = await engine.isolation();
    const missing = layers.filter(({ isActive }) => !isActive);
    const isolation = Object.fromEntries(layers.map(({ name, isActive, message }) => [name, isActive ? message : `missing: ${message}`]));
    const text =
      missing.length === 0
        ? "all isolation layers are active"
        : `isolation layers are missing: ${missing.map(({ name }) => name).join(", ")}`;
    // Logs a missing layer at level `warn`. If only the layer own-user is missing, logs at level `info`, because this layer needs a daemon
    // that runs as root.
    if (missing.some(({ name }) => name !== "own-user")) this.#log.warn({ isolation }, text);
    else this.#log.info({ isolation }, text);
  }

  /** Stops the daemon: reports "not ready", accepts no new connections, waits up to 30 s for running requests, then closes all services. */
  async stop(): Promise<void> {
    this.#phase = "draining";
    this.#services?.cronJobs.close();
    this.#services?.workerHealth.close();
    this.#services?.pluginHealth.close();
    this.#streams.close();
    this.#services?.engine.leaveSockets();
    await this.#listeners?.drain();
    this.#metrics?.close();
    await this.#services?.metricsHistory.close();
    await this.#services?.plugins.close();
    this.#services?.dataCopies.close();
    await this.#services?.engine.close();
    await this.#services?.cronSlots?.close();
    await this.#services?.cronRuns.close();
    await this.#services?.healthRecords.close();
    await this.#services?.logs.close();
    this.#services?.tools.stopUnpacking();
    await this.#services?.packages.close();
    await this.#services?.sharedPackages?.plugins.close();
    this.#services?.sharedPackages?.close();
    await this.#services?.pluginPackages.close();
    await this.#services?.tools.close();
    await this.#services?.audit.close();
    await this.#services?.instances.close();
    await this.#services?.store.close();
    this.#services?.lock.release();
  }

  /**
   * Resolves when an isolate has responded and the daemon has read the key store. Rejects if one of them fails. The caller must set a time
   * limit.
   */
  async checkLife(): Promise<void> {
    if (this.#phase !== "ready" || !this.#services) return;
    this.#services.store.assertReadable();
    await this.#services.engine.probe();
  }

  /**
   * Reloads the root key file and all plugins. If the file or a plugin is invalid, logs an error and keeps the previous root key or plugin.
   */
  async reload(): Promise<void> {
    if (this.#phase !== "ready" || !this.#services) return;
    const { principals, plugins } = this.#services;
    if (this.#config.rootKeyFile) this.#reloadRootKey(principals, this.#config.rootKeyFile);
    try {
      const reloaded = await plugins.reload({ isFresh: () => true });
      this.#log.info({ plugins: reloaded.length, failed: reloaded.filter(({ loaded }) => !loaded).length }, "reloaded");
    } catch (error) {
      this.#log.error({ err: error }, "plugin reload failed; the loaded plugins stay active");
    }
  }

  /** Returns the text that `systemctl status` shows. */
  describe(): string {
    const { used = 0, blank = 0 } = this.#services?.engine.poolNumbers ?? {};
    const pluginCount = this.#services?.plugins.set.plugins.length ?? 0;
    return `serving at ${this.#listeners?.origins?.address ?? "no address"}; isolates: ${used} in use, ${blank} waiting; plugins: ${pluginCount}`;
  }

  /** Returns whether the code of a plugin caused an uncaught error. The daemon continues to run after such an error. */
  isFaultOfPlugin(error: unknown): boolean {
    return this.#pluginCode.isSourceOf(error);
  }

  #reloadRootKey(principals: Principals, source: RootKeyFile): void {
    try {
      const rootKey = readRootKeyFile(source);
      if (rootKey === undefined) this.#log.error({ file: source.file }, "root key file is empty; the previous root key stays valid");
      else if (principals.replaceRootKey(rootKey)) this.#log.info({ file: source.file }, "root key replaced");
    } catch (error) {
      this.#log.error({ err: error }, "root key file could not be read; the previous root key stays valid");
    }
  }

  #handlers(services: Services): Handlers {
    const { packages, pluginPackages, workerFiles, pluginFiles, plugins, pluginCounters, store, principals, logs, engine } = services;
    const { events, audit, hosts, secrets, cronJobs, instances } = services;
    const { registry, signals } = instances;
    const uploads = new UploadMeter();
    this.#metrics = new Metrics({
      engine,
      uploads,
      pluginCounters,
      events,
      audit,
      store,
      connectionCount: () => this.#listeners?.connectionCount ?? 0,
    });
    return {
      discovery: createDiscoveryHandlers(this.#config, this.#config.primary && registry.own),
      health: createHealthHandlers((options) => this.#readReadiness(options)),
      session: createSessionHandlers({ principals, sessionTtlSeconds: this.#config.sessionTtlSeconds, now: nowSeconds }),
      workerFiles: createFileHandlers({ files: workerFiles, permissionToSeeValues: "workers:install" }),
      pluginFiles: createFileHandlers({
        files: pluginFiles,
        permissionToSeeValues: "plugins:install",
        onChanged: () => plugins.reload({ isFresh: () => false }),
      }),
      workers: createWorkerHandlers({
        packages,
        engine,
        health: services.workerHealth,
        logs,
        cronJobs,
        uploads,
        signals,
        instances,
        checksUploads: this.#config.checkUploads,
      }),
      plugins: createPluginHandlers({ packages: pluginPackages, plugins, health: services.pluginHealth, uploads, signals }),
      workerConfig: createWorkerConfigHandlers(services.workerConfigurations),
      pluginConfig: createPluginConfigHandlers({
        configurations: new PluginConfigurations({ packages: pluginPackages, files: pluginFiles }),
        pluginUploads: this.#config.pluginUploads,
        reload: () => plugins.reload({ isFresh: () => false }),
      }),
      settings: createSettingsHandlers(async () => readSettings(this.#config, await engine.isolation())),
      hosts: createHostHandlers({
        hosts,
        isInstalled: (name, version) => packages.isInstalled(name, version),
        config: this.#config,
        now: nowSeconds,
      }),
      logs: createLogHandlers({ logs, packages, instances }),
      data: createDataHandlers({ storage: engine.storage, limitOf: (name) => packages.resolve(name, undefined)?.manifest.data }),
      cron: createCronHandlers({ cronJobs, instances, isInstalled: (name) => packages.isInstalled(name, undefined) }),
      instances: createInstanceHandlers({
        instances,
        lagSeconds: () => store.readState().replica?.lagSeconds,
        problem: () => degradationOf(services),
        isolates: () => engine.isolates(),
        requestsInFlight: () => this.#listeners?.requestsInFlight ?? 0,
      }),
      isolates: createIsolateHandlers(engine, new IsolateReadings(engine)),
      secrets: createSecretHandlers({ secrets, now: nowSeconds }),
      keys: createKeyHandlers({ store, now: nowSeconds }),
      index: createIndexHandlers({ store }),
      events: createEventsHandlers(events, instances),
      audit: createAuditHandlers(audit, instances),
      metrics: createMetricsHandlers({
        metrics: this.#metrics,
        exposition: new PrometheusExporter(),
        history: services.metricsHistory,
        instances,
        isInstalled: (name) => packages.isInstalled(name, undefined),
      }),
      documentation: createDocumentationHandlers(this.#config.apiBase),
    };
  }

  #accessWarnings({ store }: Services): AccessWarning[] {
    return accessWarnings({ config: this.#config, keys: store.list(), now: nowSeconds() });
  }

  async #readReadiness(options: { isVerbose: boolean }): Promise<Readiness> {
    if (this.#phase === "draining") return { missing: "it is stopping", checks: [] };
    return this.#phase === "ready" && this.#services
      ? readReadiness(this.#services, this.#accessWarnings(this.#services), options)
      : { missing: "it is starting", checks: [] };
  }
}
