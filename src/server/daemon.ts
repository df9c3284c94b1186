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
import { createSessionHandlers } from "./api/session.js";
import { createWorkerHandlers } from "./api/workers.js";
import type { Config } from "./config.js";
import { createApiApp } from "./http/api-app.js";
import { Connections } from "./http/connections.js";
import { createFrontDoor, type FrontDoorOptions } from "./http/front-door.js";
import type { Handlers } from "./http/handler.js";
import { answerWhileStarting } from "./http/starting.js";
import type { Log } from "./observe/log.js";
import { WorkerPackages } from "./packages/worker-packages.js";
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
      serve: (request, response, id) => answers.serve(request, response, id),
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
      log: this.#log,
    });
    answers.api = app.callback();
    answers.serve = (request, response, requestId) => rooms.engine.handle(request, response, requestId);
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
    await this.#connections?.drain(drainTimeoutMs);
    await this.#rooms?.engine.close();
    await this.#rooms?.packages.close();
    this.#rooms?.store.close();
    this.#rooms?.lock.release();
  }

  #handlers({ packages, store, principals }: Rooms): Handlers {
    return {
      discovery: createDiscoveryHandlers(this.#config.apiBase),
      health: createHealthHandlers(() => this.#whatIsMissing()),
      session: createSessionHandlers(principals),
      workers: createWorkerHandlers(packages),
      keys: createKeyHandlers({ store, now: nowSeconds }),
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
  readonly packages: WorkerPackages;
  readonly engine: WorkerEngine;
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
  const packages: WorkerPackages = await WorkerPackages.open({
    directories: config.workerDirectories,
    builtInDirectory: path.join(config.builtInDirectory, "workers"),
    reservedNames: reservedNames(config.apiBase),
    limits,
    log,
    retire: (folder, movedTo) => engine.retire(folder, movedTo),
  });
  const engine: WorkerEngine = new WorkerEngine({
    resolve: (name, range) => packages.resolve(name, range),
    limits,
    slotsDirectory: path.join(stateDirectory, "slots"),
    isOurKey: (token) => principals.isOurKey(token),
    log,
  });
  return { lock, store, principals, packages, engine, spoolDirectory };
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
