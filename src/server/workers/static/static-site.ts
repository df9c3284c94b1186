import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import { discardBody } from "../../web/request-body.js";
import type { VersionHandler } from "../engine/version-handler.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { WorkerCall } from "../engine/worker-call.js";
import type { RequestLog } from "../logs/request-log.js";
import type { WorkerMeter, VersionLoad } from "../engine/worker-meter.js";
import { StaticFiles, type StaticFilesOptions } from "./static-files.js";

const noIsolates: VersionLoad = { kind: "static", running: 0, starting: 0, draining: 0, queued: 0, openSockets: 0, pids: [] };
/** Metadata files in the package folder, which the daemon does not serve. */
const metadataFiles = new Set(["manifest.yaml", "manifest.yml", "package.json"]);

interface StaticSiteOptions extends Pick<StaticFilesOptions, "version" | "cache" | "compressed" | "meter" | "requestLog"> {
  /** Path of the entry page, relative to the package folder. */
  readonly file: string;
}

/** One version of a static site. Serves the files below the folder of its entrypoint. */
export class StaticSite implements VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  readonly currentLoad = noIsolates;
  readonly isolates = [];
  readonly #files: StaticFiles;

  private constructor({ meter, requestLog }: StaticSiteOptions, files: StaticFiles) {
    this.meter = meter;
    this.requestLog = requestLog;
    this.#files = files;
  }

  static async open({ file, ...options }: StaticSiteOptions): Promise<StaticSite> {
    const directory = path.posix.dirname(file);
    const files = await StaticFiles.open({
      ...options,
      directory,
      page: path.posix.basename(file),
      notFound: options.version.manifest.notFound ?? "either",
      isExcluded: (name) => directory === "." && metadataFiles.has(name),
    });
    return new StaticSite({ file, ...options }, files);
  }

  handle(exchange: WorkerExchange): void {
    const { request } = exchange;
    // Discards the request body, because an unread body would block the connection.
    discardBody(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      const message = `A static site accepts GET and HEAD, not ${request.method}.`;
      return this.#files.fail(exchange, performance.now(), new ApiError("METHOD_NOT_ALLOWED", message, { allow: "GET, HEAD" }));
    }
    this.#files.handle(exchange, (startedMs) =>
      this.#files.fail(exchange, startedMs, new ApiError("NOT_FOUND", "The site has no file at this path.")),
    );
  }

  takeOver(call: WorkerCall): void {
    call.fail(
      new ApiError("WORKER_UNAVAILABLE", "The worker was replaced while the request waited. Retry the request.", { retryAfterSeconds: 1 }),
    );
  }

  retire(): Promise<void> {
    this.#files.retire();
    return Promise.resolve();
  }

  stopIsolate(): void {
    // Does nothing, because a static site has no isolates.
  }

  restart(): number {
    return 0;
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }
}
