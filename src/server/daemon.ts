import { chmod, mkdir } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { StateLock } from "./access/state-lock.js";
import { createDiscoveryHandlers } from "./api/discovery.js";
import { createDocumentationHandlers } from "./api/documentation.js";
import { createHealthHandlers } from "./api/health.js";
import { createKeyHandlers } from "./api/keys.js";
import { createMetricsHandlers } from "./api/metrics.js";
import { createPluginHandlers } from "./api/plugins.js";
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
import { UploadMeter } from "./observe/upload-meter.js";
import { packageRoot } from "./package-root.js";
import { PluginCode } from "./plugins/plugin-code.js";
import { nowSeconds, openRooms, type Rooms } from "./rooms.js";

/** How long requests in flight may take to finish once the daemon stops. */
const drainTimeoutMs = 30_000;

/** The daemon from its first request to its last: listens, has the rooms opened, serves from them, and closes them in order. */
export class Daemon {
  readonly #config: Config;
  readonly #log: Log;
  /** Known before the rooms are: code of plugins runs, and may fail, while they are opened. */
  readonly #pluginCode: PluginCode;
  #phase: "starting" | "ready" | "draining" = "starting";
  #rooms: Rooms | undefined;
  #connections: Connections | undefined;
  readonly #streams = new EventStreams();
  #metrics: Metrics | undefined;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#pluginCode = new PluginCode({ directory: path.join(config.stateDirectory, "plugin-code"), packageRoot });
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
    const rooms = await openRooms(this.#config, this.#log, { lock, code: this.#pluginCode });
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
    answers.serve = (request, response, requestId, connection) => rooms.door.serve(request, response, requestId, connection);
    this.#phase = "ready";
    if (this.#config.rootKey === undefined && rooms.store.list().length === 0)
      this.#log.warn(
        "there is no root key and no stored key, so every call of the API is refused: set RUNTIME_ROOT_KEY_FILE to a file that holds a long random text, and start again",
      );
    this.#log.info({ address, api: apiBase }, "listening");
    await rooms.plugins.serverStarted({ address });
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
    await this.#rooms?.plugins.close();
    await this.#rooms?.engine.close();
    this.#rooms?.tools.stopUnpacking();
    await this.#rooms?.packages.close();
    await this.#rooms?.pluginPackages.close();
    await this.#rooms?.tools.close();
    this.#rooms?.store.close();
    this.#rooms?.lock.release();
  }

  /** Whether an error that nobody caught comes from the code of a plugin: the daemon goes on then. */
  isFaultOfPlugin(error: unknown): boolean {
    return this.#pluginCode.isSourceOf(error);
  }

  #handlers({ packages, pluginPackages, plugins, pluginCounters, store, principals, logs, engine }: Rooms): Handlers {
    const uploads = new UploadMeter();
    this.#metrics = new Metrics({
      engine,
      uploads,
      pluginCounters,
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
