import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { KeyStore } from "./access/key-store.js";
import { Principals } from "./access/principals.js";
import { StateLock } from "./access/state-lock.js";
import { createDiscoveryHandlers } from "./api/discovery.js";
import { createDocumentationHandlers } from "./api/documentation.js";
import { createHealthHandlers } from "./api/health.js";
import { createKeyHandlers } from "./api/keys.js";
import { createMetricsHandlers } from "./api/metrics.js";
import { createPluginHandlers, type PluginsPort } from "./api/plugins.js";
import { createSessionHandlers } from "./api/session.js";
import { createWorkerHandlers } from "./api/workers.js";
import type { Config } from "./config.js";
import { createApiApp } from "./http/api-app.js";
import { Connections } from "./http/connections.js";
import { EventStreams } from "./http/event-streams.js";
import { createFrontDoor, type FrontDoorOptions } from "./http/front-door.js";
import type { Handlers } from "./http/handler.js";
import { answerWhileStarting } from "./http/starting.js";
import { Exposition } from "./observe/exposition.js";
import type { Log } from "./observe/log.js";
import { Metrics } from "./observe/metrics.js";
import { PluginCounters } from "./observe/plugin-counters.js";
import { UploadMeter } from "./observe/upload-meter.js";
import { PackageTools } from "./packages/package-tools.js";
import { PluginPackages } from "./packages/plugin-packages.js";
import { WorkerPackages } from "./packages/worker-packages.js";
import { UnloadedPlugins } from "./plugins/unloaded-plugins.js";
import { WorkerLogs } from "./workers/logs/worker-logs.js";
import { CronJobs } from "./workers/cron/cron-jobs.js";
import { cronRefusal } from "./workers/cron/cron-schedule.js";
import { WorkerEngine } from "./workers/worker-engine.js";

/** How long requests in flight may take to finish once the daemon stops. */
const drainTimeoutMs = 30_000;

/** The composition root: opens the rooms, hands each what it needs of the others, and closes them in order. */
export class Daemon {
  readonly #config: Config;
  readonly #log: Log;
  #phase: "starting" | "ready" | "draining" = "starting";
  #rooms: Rooms | undefined;
  #connections: Connections | undefined;
  readonly #streams = new EventStreams();
  #metrics: Metrics | undefined;
  readonly #pluginCounters = new PluginCounters();

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** Listens at once, answers for real when all rooms are open; returns the origin, such as `http://127.0.0.1:8000`. */
  async start(): Promise<string> {
    const { apiBase, stateDirectory } = this.#config;
    await makePrivate(stateDirectory);
    const lock = new StateLock(stateDirectory);
    const answers: Answers = { api: answerWhileStarting(apiBase), serve: answerWhileStarting(apiBase) };
    const server = createFrontDoor({
      apiBase,
      api: (request, response) => answers.api(request, response),
      serve: (request, response, id, connection) => answers.serve(request, response, id, connection),
    });
    this.#connections = new Connections(server);
    const address = await listen(server, this.#config);
    const rooms = await openRooms(this.#config, this.#log, lock);
    this.#rooms = rooms;
    const app = createApiApp({
      handlers: this.#handlers(rooms),
      principals: rooms.principals,
      config: this.#config,
      spoolDirectory: rooms.spoolDirectory,
      streams: this.#streams,
      log: this.#log,
    });
    answers.api = app.callback();
    answers.serve = (request, response, requestId, connection) => rooms.engine.handle(request, response, requestId, connection);
    this.#phase = "ready";
    if (this.#config.rootKey === undefined && rooms.store.list().length === 0)
      this.#log.warn(
        "there is no root key and no stored key, so every call of the API is refused: set RUNTIME_ROOT_KEY_FILE to a file that holds a long random text, and start again",
      );
    this.#log.info({ address, api: apiBase }, "listening");
    return address;
  }

  /** Not ready any more, nothing new accepted, what is in flight finished within 30 s, everything closed. */
  async stop(): Promise<void> {
    this.#phase = "draining";
    this.#rooms?.cronJobs.close();
    this.#streams.close();
    this.#rooms?.engine.leaveSockets();
    await this.#connections?.drain(drainTimeoutMs);
    this.#metrics?.close();
    await this.#rooms?.engine.close();
    this.#rooms?.tools.stopUnpacking();
    await this.#rooms?.packages.close();
    await this.#rooms?.pluginPackages.close();
    await this.#rooms?.tools.close();
    this.#rooms?.store.close();
    this.#rooms?.lock.release();
  }

  #handlers({ packages, pluginPackages, plugins, store, principals, logs, engine }: Rooms): Handlers {
    const uploads = new UploadMeter();
    this.#metrics = new Metrics({
      engine,
      uploads,
      pluginCounters: this.#pluginCounters,
      connectionCount: () => this.#connections?.count ?? 0,
    });
    return {
      discovery: createDiscoveryHandlers(this.#config.apiBase),
      health: createHealthHandlers(() => this.#whatIsMissing()),
      session: createSessionHandlers(principals),
      workers: createWorkerHandlers({ packages, engine, logs, uploads }),
      plugins: createPluginHandlers({ packages: pluginPackages, plugins, uploads }),
      keys: createKeyHandlers({ store, now: nowSeconds }),
      metrics: createMetricsHandlers(this.#metrics, new Exposition()),
      documentation: createDocumentationHandlers(this.#config.apiBase),
    };
  }

  async #whatIsMissing(): Promise<string | undefined> {
    if (this.#phase !== "ready") return this.#phase === "draining" ? "it is stopping" : "it is starting";
    if (!this.#rooms?.store.isUsable()) return "the key store cannot be written";
    if (!(await this.#rooms.packages.canInstall())) return "no worker directory can be installed to";
    return undefined;
  }
}

/** Who answers a request; replaced as a whole once the rooms are open. */
type Answers = { -readonly [Part in "api" | "serve"]: FrontDoorOptions[Part] };

interface Rooms {
  readonly lock: StateLock;
  readonly store: KeyStore;
  readonly principals: Principals;
  readonly tools: PackageTools;
  readonly packages: WorkerPackages;
  readonly pluginPackages: PluginPackages;
  readonly plugins: PluginsPort;
  readonly engine: WorkerEngine;
  readonly cronJobs: CronJobs;
  readonly logs: WorkerLogs;
  readonly spoolDirectory: string;
}

async function openRooms(config: Config, log: Log, lock: StateLock): Promise<Rooms> {
  const { limits, stateDirectory } = config;
  const spoolDirectory = path.join(stateDirectory, "spool");
  // What an interrupted upload left is of no use to anybody.
  await rm(spoolDirectory, { recursive: true, force: true });
  await mkdir(spoolDirectory, { mode: 0o700 });
  await makeDirectories([...config.workerDirectories, ...config.pluginDirectories], log);
  const store = new KeyStore({ stateDirectory, log });
  const principals = new Principals({ store, rootKey: config.rootKey, now: nowSeconds });
  const { workerLogSizeBytes: bytesPerWorker, workerLogsTotalBytes: totalBytes } = limits;
  const logs = new WorkerLogs({ bytesPerWorker, totalBytes, now: Date.now });
  const cronJobs = new CronJobs({
    call: (call) => engine.call(call),
    tell: ({ name, version }, level, text) => logs.write({ name, version, level, source: "runtime", text }),
  });
  const tools = new PackageTools(limits);
  const packages: WorkerPackages = await WorkerPackages.open({
    directories: config.workerDirectories,
    builtInDirectory: path.join(config.builtInDirectory, "workers"),
    reservedNames: reservedNames(config.apiBase),
    tools,
    knownVersionsFile: path.join(stateDirectory, "known-workers.json"),
    log,
    refusal: (manifest) => engine.refusal(manifest) ?? cronRefusal(manifest),
    onAnswering: (name, version) => cronJobs.plan(name, version),
    check: async (version) => (config.checkUploads ? engine.check(version) : undefined),
    retire: (folder, movedTo) => engine.retire(folder, movedTo),
  });
  const engine: WorkerEngine = new WorkerEngine({
    resolve: (name, range) => packages.resolve(name, range),
    isInstalled: (name, version) => packages.isInstalled(name, version),
    limits,
    slotsDirectory: path.join(stateDirectory, "slots"),
    ownUsers: config.workerUids && {
      uids: config.workerUids,
      slotsDirectory: sharedSlotsDirectory(stateDirectory),
      appDirectories: [path.join(config.builtInDirectory, "workers"), ...config.workerDirectories].filter((folder) => existsSync(folder)),
    },
    permissions: config.workerPermissions,
    isOurKey: (token) => principals.isOurKey(token),
    logs,
    log,
  });
  const pluginPackages = await PluginPackages.open({
    directories: config.pluginDirectories,
    builtInDirectory: path.join(config.builtInDirectory, "plugins"),
    reservedNames: reservedNames(config.apiBase),
    tools,
    log,
    refusal: (app) => engine.refusal(app) ?? cronRefusal(app),
    retire: (folder, movedTo) => engine.retire(folder, movedTo),
  });
  const plugins = new UnloadedPlugins({ discover: () => pluginPackages.discover() });
  return { lock, store, principals, tools, packages, pluginPackages, plugins, engine, cronJobs, logs, spoolDirectory };
}

/** The state directory is closed to other users; this belongs to the one daemon that uses that state directory. */
function sharedSlotsDirectory(stateDirectory: string): string {
  return `/run/runtimed-${createHash("sha256").update(stateDirectory).digest("hex").slice(0, 16)}`;
}

/** First path segments that the router needs itself; names that start with a dot are refused by the grammar. */
function reservedNames(apiBase: string): ReadonlySet<string> {
  return new Set(["api", "cpanel", apiBase.split("/")[1] ?? "api"]);
}

/** Makes the configured directories that are missing; those whose name starts with a dot come with the image. */
async function makeDirectories(directories: readonly string[], log: Log): Promise<void> {
  for (const directory of directories) {
    if (path.basename(directory).startsWith(".")) continue;
    await mkdir(directory, { recursive: true }).catch((error: unknown) =>
      log.warn({ err: error, directory }, "a configured directory is missing and cannot be made"),
    );
  }
}

async function makePrivate(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
}

async function listen(server: Server, { host, port, listenFd }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listenFd === undefined ? { host, port } : { fd: listenFd }, resolve);
  });
  const address = server.address() as AddressInfo | string;
  if (typeof address === "string") return `unix:${address}`;
  return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
