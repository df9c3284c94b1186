import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import type { IsolateReading, VersionHandler } from "../engine/version-handler.js";
import type { WorkerCall } from "../engine/worker-call.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { WorkerMeter, VersionLoad } from "../engine/worker-meter.js";
import type { RequestLog } from "../logs/request-log.js";
import { isExcludedAsset } from "../protocol/assets-order.js";
import { StaticFiles, type StaticFilesOptions } from "./static-files.js";

/**
 * A worker with a module and a folder of static files. The daemon serves requests for existing files, and the module serves all other
 * requests.
 */
export class ModuleWithAssets implements VersionHandler {
  readonly #module: VersionHandler;
  readonly #files: StaticFiles;
  readonly #isWorkerFirst: boolean;

  private constructor(module: VersionHandler, files: StaticFiles, isWorkerFirst: boolean) {
    this.#module = module;
    this.#files = files;
    this.#isWorkerFirst = isWorkerFirst;
  }

  /**
   * Returns a worker that serves the files of `assets` in the manifest before `module`. Without `assets`, returns `module`. `entrypoint`:
   * path of the module in the package. Throws WORKER_START_FAILED if the assets folder is missing.
   */
  static async open(
    module: VersionHandler,
    options: Pick<StaticFilesOptions, "version" | "cache" | "compressed"> & { readonly entrypoint: string },
  ): Promise<VersionHandler> {
    const { assets } = options.version.manifest;
    if (!assets) return module;
    const { meter, requestLog } = module;
    const { directory, notFound } = assets;
    const code = path.posix.relative(path.posix.normalize(directory), options.entrypoint);
    const isExcluded = (file: string) => isExcludedAsset(file, { module: code });
    try {
      const files = await StaticFiles.open({ ...options, directory, page: "index.html", notFound, isExcluded, meter, requestLog });
      return new ModuleWithAssets(module, files, assets.workerFirst);
    } catch (cause) {
      const message = `The worker cannot be started. The \`assets\` folder ${JSON.stringify(directory)} does not exist.`;
      throw new ApiError("WORKER_START_FAILED", message, { cause });
    }
  }

  get meter(): WorkerMeter {
    return this.#module.meter;
  }

  get requestLog(): RequestLog {
    return this.#module.requestLog;
  }

  get currentLoad(): VersionLoad {
    return this.#module.currentLoad;
  }

  get isolates(): readonly IsolateReading[] {
    return this.#module.isolates;
  }

  handle(exchange: WorkerExchange): void {
    const { request, upgrade, cron } = exchange;
    const isForFiles = (request.method === "GET" || request.method === "HEAD") && !upgrade && cron === undefined && !hasBody(request);
    if (!isForFiles || this.#isWorkerFirst) return this.#module.handle(exchange);
    this.#files.handle(exchange, () => this.#module.handle(exchange));
  }

  takeOver(call: WorkerCall): void {
    this.#module.takeOver(call);
  }

  retire(movedTo: string | undefined): Promise<void> {
    this.#files.retire();
    return this.#module.retire(movedTo);
  }

  restart(): number {
    return this.#module.restart();
  }

  stopIsolate(pid: number): void {
    this.#module.stopIsolate(pid);
  }

  drain(): Promise<void> {
    return this.#module.drain();
  }
}

/** Returns true if a request has a body. The module serves such a request, because the response with a file would leave the body unread. */
function hasBody({ headers }: WorkerExchange["request"]): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
