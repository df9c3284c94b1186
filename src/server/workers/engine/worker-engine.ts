import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { ApiError } from "../../../shared/api-error.js";
import { parseSizeBytes } from "../../../shared/size.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";
import { sendError, toApiError } from "../../web/error-response.js";
import { RequestHeads } from "../../web/request-heads.js";
import type { HostTarget, HttpExchange } from "../../web/http-exchange.js";
import type { CronCall, CronResponse } from "../cron.js";
import { notFound, redirectToBase, stopping } from "./engine-responses.js";
import { findEntrypoint, type Entrypoint } from "./entrypoint.js";
import { checkLoads } from "../isolates/isolate-starter.js";
import { createInternalExchange } from "./internal-exchange.js";
import { IsolatePool, type PoolNumbers } from "../isolates/isolate-pool.js";
import { ModuleVersion } from "./module-version.js";
import { OpenedVersions } from "./opened-versions.js";
import { NetworkCeiling, type NetworkMode } from "../../config/worker-network.js";
import { PermissionPolicy } from "./permission-policy.js";
import type { IsolationLayer } from "../sandbox/isolation-layers.js";
import { probeKernelLayers } from "../sandbox/probe-kernel-layers.js";
import { checkVersion, type CheckObserver } from "./version-check.js";
import type { VersionHandler, ServedVersion, WorkerIsolate } from "./version-handler.js";
import { ClientUpgrade, OpenSockets } from "../sockets/client-upgrade.js";
import { CloseCode } from "../protocol/web-socket-frames.js";
import { CompressedFiles } from "../static/compressed-files.js";
import { StaticCache } from "../static/static-file.js";
import { assetsOrderOf } from "../static/assets-order-of.js";
import { ModuleWithAssets } from "../static/module-with-assets.js";
import { StaticSite } from "../static/static-site.js";
import { RequestLog } from "../logs/request-log.js";
import { BandwidthScheduler } from "./bandwidth-scheduler.js";
import { TypeScriptCompiler } from "../typescript/typescript-compiler.js";
import { writeWorkerHead, type WorkerExchange } from "./worker-exchange.js";
import type { WorkerEngineOptions } from "./worker-engine-options.js";
import { createWorkerStorage } from "../data/create-worker-storage.js";
import { dataRefusal } from "../data/data-limit.js";
import type { WorkerStorage } from "../data/worker-storage.js";
import { WorkerMeter, WorkerMeters, totalLoad, type WorkerNumbers } from "./worker-meter.js";
import { addressAtHost, addressOfTarget, parseWorkerPath, type WorkerPath } from "./worker-address.js";

const drainTimeoutMs = 30_000;
/** Default of `stallTimeoutMs`, equal to the HTTP server's timeout for receiving a complete request. */
const defaultStallTimeoutMs = 15 * 60_000;
const defaultMemoryBytes = parseSizeBytes("128mb") as number;

/** The worker that a rejected request has addressed. `version` is undefined if the worker has no matching enabled version. */
interface RejectedWorker {
  readonly meter: WorkerMeter;
  readonly version?: ServedVersion;
}

/** Sends an error to the client. If the worker is installed, also counts and logs the error for the worker. */
type Reject = (exchange: WorkerExchange, error: ApiError, refused: RejectedWorker | undefined) => void;

/** Serves all workers. Finds the version for a request and passes the request to the static site or the isolates of this version. */
export class WorkerEngine {
  /** The data folders and temporary folders of workers. */
  readonly storage: WorkerStorage;
  readonly #options: WorkerEngineOptions;
  readonly #pool: IsolatePool;
  readonly #compiler: TypeScriptCompiler;
  readonly #fileCaches: { readonly cache: StaticCache; readonly compressed: CompressedFiles };
  readonly #meters = new WorkerMeters();
  readonly #heads: RequestHeads;
  readonly #ceiling: PermissionPolicy;
  readonly #network: NetworkCeiling;
  readonly #opened = new OpenedVersions((version) => {
    const meter = this.#meters.of(version.name, version.version);
    const opening = this.#open(version, meter);
    opening.catch((error: unknown) => {
      const { name, version: tag } = version;
      this.#options.observer?.troubled({ name, version: tag, kind: "start-failed", message: toApiError(error).message });
    });
    return { meter, opening };
  });
  readonly #openSockets = new OpenSockets();
  readonly #bandwidthScheduler: BandwidthScheduler;
  #lastTarget: { text: string; address: WorkerPath | undefined } = { text: "", address: undefined };
  #isClosing = false;

  constructor(options: WorkerEngineOptions) {
    this.#options = options;
    this.#fileCaches = { cache: new StaticCache(), compressed: new CompressedFiles(options.compressedFilesDirectory) };
    this.#heads = new RequestHeads({ isOurKey: options.isOurKey });
    this.#bandwidthScheduler = new BandwidthScheduler(options.limits.sharedStreamRateBytes * availableParallelism());
    this.#ceiling = new PermissionPolicy(options.permissions ?? ["network"]);
    const network = options.network ?? { mode: "all", grants: [], allowsLoopback: false };
    this.#network = new NetworkCeiling(this.#ceiling.allowsNetwork ? network : { ...network, mode: "none" });
    const layers = options.kernelLayers ?? probeKernelLayers();
    this.storage = createWorkerStorage(options, (name) => void this.restartWorkers((worker) => worker === name));
    this.#compiler = new TypeScriptCompiler(layers);
    this.#pool = new IsolatePool({
      size: options.limits.poolSize,
      standbyMemoryBytes: Math.min(defaultMemoryBytes, options.limits.workerMemoryMaxBytes),
      allowsNetwork: this.#ceiling.allowsNetwork,
      standbyNetwork: this.#network.usual,
      isStrict: options.isStrict ?? false,
      closedFolders: options.closedFolders ?? [],
      temporaryFolderMaxBytes: options.limits.workerTemporaryMaxBytes,
      layers,
      slotsDirectory: options.slotsDirectory,
      fallbackSlotsDirectory: options.fallbackSlotsDirectory,
      ownUsers: options.ownUsers,
      isStopping: options.isStopping,
      log: options.log,
    });
  }

  /** Serves a request outside the API by a worker, a redirect or an error. */
  handle(exchange: HttpExchange): void {
    const address = this.#addressOf(exchange.request.url ?? "", exchange.hostTarget);
    if (!address) {
      this.#meters.unknownPathCount += 1;
      return sendError(exchange.response, notFound(), exchange.requestId);
    }
    this.#admit(exchange, address, undefined);
  }

  /**
   * Serves a request with a worker that has no name of its own, such as the worker of a plugin. `address` contains the base and the path.
   */
  handleApp(exchange: HttpExchange, address: Pick<WorkerPath, "base" | "path" | "query">, resolve: () => ServedVersion | undefined): void {
    this.#admit(exchange, { ...address, name: "", range: undefined }, resolve);
  }

  /** Returns the version that serves a target, and the path below its base. Returns undefined if no version serves the target. */
  appAt(target: string, host?: HostTarget): { version: ServedVersion; base: string; path: string } | undefined {
    const address = this.#addressOf(target, host);
    const version = address && this.#options.resolve(address.name, address.range);
    return version && { version, base: address.base, path: address.path };
  }

  /**
   * Loads a version once in an isolate of its own, with the given variables and a temporary folder as data folder. If `isRequested` is
   * true, also sends one request like `checkVersion`. Throws WORKER_START_FAILED or WORKER_CHECK_FAILED.
   */
  check(version: ServedVersion, environment: () => Readonly<Record<string, string>>, isRequested: boolean): Promise<void> {
    if (!isRequested) return checkLoads({ ...this.#startOptions(version), environment });
    const meter = new WorkerMeter(version.name, version.version);
    return checkVersion(version, (checked, checkObserver) => this.#open(checked, meter, { environment, checkObserver }));
  }

  /** Returns the metrics of each installed worker that has received a request. */
  numbers(): WorkerNumbers[] {
    const apps = new Map<WorkerMeter, VersionHandler[]>();
    for (const { meter, app } of this.#opened) if (app) apps.set(meter, [...(apps.get(meter) ?? []), app]);
    return [...this.#meters].map((meter) => ({ meter, currentLoad: totalLoad(apps.get(meter) ?? []) }));
  }

  /** Returns the counters of an installed version. Undefined if the version has received no request. */
  meterOf(name: string, version: string): WorkerMeter | undefined {
    return this.#meters.find(name, version);
  }

  /** Returns whether an isolate or a request uses a version, and the number of its requests since the start. */
  useOf({ name, version, folder }: Pick<ServedVersion, "name" | "version" | "folder">): { isInUse: boolean; requestCount: number } {
    const meter = this.#meters.find(name, version);
    const isRequested = meter !== undefined && (meter.inFlightCount > 0 || meter.readingCount > 0);
    return { isInUse: isRequested || this.#opened.isInUse(folder), requestCount: meter?.beganCount ?? 0 };
  }

  get unknownPathCount(): number {
    return this.#meters.unknownPathCount;
  }

  /** Resolves when an isolate has responded to a ping. Rejects if no isolate can start. The caller must set a time limit. */
  probe(): Promise<void> {
    return this.#pool.probe();
  }

  /** Returns each isolation layer of worker processes, and whether the layer is active. */
  isolation(): Promise<IsolationLayer[]> {
    return this.#pool.isolation();
  }

  get poolNumbers(): PoolNumbers {
    return this.#pool.numbers;
  }

  /** Stops serving `folder`. Running isolates then read files from `movedTo`, if defined. Resolves when no isolate uses either folder. */
  async retire(folder: string, movedTo: string | undefined): Promise<void> {
    await this.#opened.retire(folder, movedTo);
    this.#meters.prune(this.#options.isInstalled);
  }

  /** Sends a request of a cron job to the active version of a worker. Resolves with the status; 502 when the response was cut off. */
  async call({ name, method, target, schedule }: CronCall): Promise<CronResponse> {
    const address = addressOfTarget(name, target);
    const { request, response, answered } = createInternalExchange(method);
    let error: ApiError | undefined;
    const cron = { schedule, onError: (cause: ApiError) => (error = cause) };
    this.#route({ request, response, requestId: randomUUID(), address, upgrade: undefined, cron }, this.#enter, this.#refuse);
    return { status: await answered, error };
  }

  /** Returns the isolates of all versions. Includes replaced versions whose isolates complete their running calls. */
  isolates(): WorkerIsolate[] {
    return [...this.#opened.withRetiring()].flatMap(({ version: { name, version }, app }) =>
      (app?.isolates ?? []).map((isolate) => ({ worker: name, version, ...isolate })),
    );
  }

  /** Drains the isolate with the process id. Does nothing if no isolate of the engine has this process id. */
  stopIsolate(pid: number): void {
    for (const { app } of this.#opened.withRetiring()) app?.stopIsolate(pid);
  }

  /**
   * Replaces the isolates of the version in a package folder. Returns the number of old isolates. If the version failed to open, the next
   * request opens it again.
   */
  restart(folder: string): Promise<number> {
    return this.#opened.restart(folder);
  }

  /** Replaces the isolates of all workers whose name matches. The new isolates read the environment variables again. */
  restartWorkers(matches: (name: string) => boolean): Promise<void> {
    return this.#opened.restartWorkers(matches);
  }

  /** Returns the reason why this daemon would reject a worker with this manifest. Returns undefined if it would accept the worker. */
  refusal(manifest: WorkerManifest, name: string): string | undefined {
    return this.#ceiling.refusal(manifest) ?? this.#network.refusal(manifest, name) ?? dataRefusal(manifest, this.#options.limits);
  }

  /** Closes all WebSockets with code 1001, because the daemon stops. Also closes WebSockets that open later. */
  leaveSockets(): void {
    this.#openSockets.closeAll(CloseCode.GoingAway, "The daemon is stopping.");
  }

  /** Network mode of a worker whose manifest contains no network mode. */
  get networkMode(): NetworkMode {
    return this.#network.usual.mode;
  }

  /** Rejects new requests, waits up to 30 s for running requests, then stops all isolates. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.leaveSockets();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs)));
    const apps = [...this.#opened].flatMap(({ app }) => app ?? []);
    await Promise.race([Promise.all(apps.map((app) => app.drain())), timeout]);
    clearTimeout(timer);
    this.#compiler.close();
    await this.#pool.close();
    await this.storage.close();
  }

  /** Returns the address of a target. Caches the last result, because the plugin router parses the same target before the engine. */
  #addressOf(target: string, host: HostTarget | undefined): WorkerPath | undefined {
    if (host) return addressAtHost(target, host);
    if (target !== this.#lastTarget.text) this.#lastTarget = { text: target, address: parseWorkerPath(target) };
    return this.#lastTarget.address;
  }

  #admit({ request, response, requestId, connection }: HttpExchange, address: WorkerPath, resolve: WorkerExchange["resolve"]): void {
    const upgrade = connection && new ClientUpgrade({ request, response, connection, openSockets: this.#openSockets });
    const problem = upgrade && ClientUpgrade.problemOf(request);
    if (problem) return sendError(response, problem, requestId);
    this.#route({ request, response, requestId, address, upgrade, resolve, cron: undefined }, this.#enter, this.#refuse);
  }

  #route(exchange: WorkerExchange, onApp: (app: VersionHandler, exchange: WorkerExchange) => void, refuse: Reject): void {
    const { name, range } = exchange.address;
    if (this.#isClosing) return refuse(exchange, stopping(), undefined);
    const version = exchange.resolve ? exchange.resolve() : this.#options.resolve(name, range);
    if (!version)
      return refuse(exchange, notFound(), this.#options.isInstalled(name, undefined) ? { meter: this.#meters.of(name) } : undefined);
    if (version.problem !== undefined) {
      return refuse(exchange, new ApiError("WORKER_START_FAILED", version.problem), {
        meter: this.#meters.of(name, version.version),
        version,
      });
    }
    const opened = this.#opened.of(version);
    if (opened.app) return onApp(opened.app, exchange);
    opened.opening.then(
      (app) => onApp(app, exchange),
      (error: unknown) => refuse(exchange, toApiError(error), opened),
    );
  }

  readonly #refuse: Reject = (exchange, error, refused) => {
    const { status, code } = error;
    exchange.cron?.onError(error);
    if (refused) refused.meter.noteRefusal(status, code);
    else this.#meters.unknownPathCount += 1;
    sendError(exchange.response, error, exchange.requestId);
    if (refused?.version) new RequestLog(this.#options.logs, refused.version).write(exchange, { status, durationMs: 0, responseBytes: 0 });
  };

  readonly #enter = (app: VersionHandler, exchange: WorkerExchange): void => {
    const { address, request, upgrade } = exchange;
    this.#bandwidthScheduler.noteCall();
    if (address.path !== "") return app.handle(exchange);
    // Sends no redirect to an upgrade request, because WebSocket clients do not follow redirects.
    if (!upgrade && (request.method === "GET" || request.method === "HEAD")) return redirectToBase(app, exchange);
    app.handle({ ...exchange, address: { ...address, path: "/" } });
  };

  /** `checkObserver` is defined if the daemon only checks the version. */
  async #open(
    version: ServedVersion,
    meter: WorkerMeter,
    {
      environment = () => this.#options.environmentOf?.(version) ?? version.manifest.env,
      checkObserver,
    }: { environment?: () => Readonly<Record<string, string>>; checkObserver?: CheckObserver } = {},
  ): Promise<VersionHandler> {
    await this.#opened.download(version, this.#options.ensure);
    const entrypoint = await findEntrypoint(version);
    const requestLog = new RequestLog(this.#options.logs, version);
    if (entrypoint.kind === "static") {
      const { file } = entrypoint;
      return StaticSite.open({ version, file, ...this.#fileCaches, meter, requestLog });
    }
    const refusal = this.refusal(version.manifest, version.name);
    if (refusal !== undefined) throw new ApiError("WORKER_START_FAILED", `The worker cannot be started. ${refusal}`);
    const module = new ModuleVersion({
      ...this.#startOptions(version),
      meter,
      requestLog,
      entrypoint,
      environment,
      scheduler: this.#bandwidthScheduler,
      stallTimeoutMs: this.#options.stallTimeoutMs ?? defaultStallTimeoutMs,
      writeHead: (exchange) => writeWorkerHead(this.#heads, exchange, version.manifest.path),
      reroute: (call) =>
        this.#route(
          call.exchange,
          (app) => app.takeOver(call),
          (_exchange, error) => call.fail(error),
        ),
      observer: checkObserver ? undefined : this.#options.observer,
      checkObserver,
    });
    return ModuleWithAssets.open(module, { version, entrypoint: entrypoint.file, ...this.#fileCaches });
  }

  /** Returns the options with which each isolate of `version` starts. */
  #startOptions(version: ServedVersion) {
    const { limits, logs, log } = this.#options;
    const network = this.#network.of(version.manifest);
    const assets = (entrypoint: Entrypoint) => assetsOrderOf(version, entrypoint);
    return { version, network, storage: this.storage, pool: this.#pool, compiler: this.#compiler, limits, logs, log, assets };
  }
}
