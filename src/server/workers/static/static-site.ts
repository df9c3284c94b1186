import { realpath } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import { sendError, toApiError } from "../../web/error-response.js";
import { mayWorkerRespondWith } from "../../web/response-headers.js";
import { discardBody } from "../../web/request-body.js";
import type { VersionHandler, ServedVersion } from "../engine/version-handler.js";
import { decodedSegment } from "../engine/worker-address.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { WorkerCall } from "../engine/worker-call.js";
import type { RequestLog } from "../logs/request-log.js";
import type { WorkerMeter, VersionLoad } from "../engine/worker-meter.js";
import { FileResponses } from "./file-responses.js";
import type { CompressedFiles } from "./compressed-files.js";
import { FileVariants, publicVariables } from "./file-variants.js";
import { readStaticFile, type CacheShelf, type StaticCache, type SiteFolder, type StaticFile } from "./static-file.js";

/** A cached file is checked on disk again after this time, because files can be edited in place. */
const recheckMs = 1000;
/** Headers that the daemon derives from the file. The manifest cannot override them. */
const describedByUs = new Set([
  "content-type",
  "content-length",
  "content-range",
  "etag",
  "last-modified",
  "accept-ranges",
  "x-request-id",
]);
const noIsolates: VersionLoad = { kind: "static", running: 0, starting: 0, draining: 0, queued: 0, openSockets: 0, pids: [] };
/** Returns whether a site can send the header from a path of an origin that it shares with other workers. */
const isForPaths = ([name, value]: readonly [string, string]): boolean => mayWorkerRespondWith(name, value, { ownsOrigin: false });
/** Package metadata files at the root, which are not served. */
const metadataFiles = new Set(["manifest.yaml", "manifest.yml", "package.json"]);

interface StaticSiteOptions {
  readonly version: ServedVersion;
  /** The entry page, relative to the package folder. */
  readonly file: string;
  readonly cache: StaticCache;
  readonly compressed: CompressedFiles;
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
}

/** One version of a static site: serves the files below its entrypoint's folder. */
export class StaticSite implements VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  readonly currentLoad = noIsolates;
  readonly #cache: StaticCache;
  readonly #folder: SiteFolder;
  readonly #page: string;
  readonly #isPackageRoot: boolean;
  readonly #shelf: CacheShelf = new Map();
  readonly #variants: FileVariants;
  readonly #responses: FileResponses;
  #isRetired = false;

  private constructor(options: StaticSiteOptions & { root: string }) {
    const { version, file, cache, compressed } = options;
    this.meter = options.meter;
    this.requestLog = options.requestLog;
    this.#cache = cache;
    const headers = Object.entries(version.manifest.headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => mayWorkerRespondWith(name, value, { ownsOrigin: true }) && !describedByUs.has(name));
    const pathHeaders = headers.filter(isForPaths);
    this.#responses = new FileResponses({ originHeaders: headers.filter((header) => !isForPaths(header)) });
    const { immutable, injectBase, env, envPrefix } = version.manifest;
    this.#folder = {
      root: options.root,
      generation: version.generation,
      marksOf: (relative) => ({
        headers: pathHeaders,
        isImmutable: immutable.some((folder) => relative.startsWith(path.join(folder, "/"))),
      }),
    };
    this.#page = path.posix.basename(file);
    this.#isPackageRoot = path.posix.dirname(file) === ".";
    const variables = publicVariables(env, envPrefix);
    const injection = injectBase ? { base: injectBase === "relative" ? injectBase : ("absolute" as const), variables } : undefined;
    this.#variants = new FileVariants({ cache, compressed, injection });
  }

  static async open(options: StaticSiteOptions): Promise<StaticSite> {
    const root = await realpath(path.join(options.version.folder, path.posix.dirname(options.file)));
    return new StaticSite({ ...options, root });
  }

  handle(exchange: WorkerExchange): void {
    const startedMs = performance.now();
    const { request, response } = exchange;
    this.meter.beganCount += 1;
    // The request body is discarded because an unread body would block the connection.
    discardBody(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      const error = new ApiError("METHOD_NOT_ALLOWED", `A static site accepts GET and HEAD, not ${request.method}.`);
      response.setHeader("allow", "GET, HEAD");
      this.meter.noteError(error.code);
      sendMethodNotAllowed(exchange, error);
      return this.#note(exchange, startedMs, 0);
    }
    const relative = relativePath(exchange.address.path);
    const cached = relative === undefined || this.#isRetired ? undefined : this.#shelf.get(this.#fileOf(relative));
    const isFresh = cached && startedMs - cached.checkedMs < recheckMs;
    const ready = isFresh && this.#variants.inMemory(exchange, cached.file);
    if (ready) {
      return this.#note(exchange, startedMs, this.#responses.send(exchange, ready));
    }
    // This request reads the disk. Concurrent requests use the cached file meanwhile.
    if (cached) cached.checkedMs = startedMs;
    void this.#answer(exchange, relative)
      .catch((error: unknown) => this.#fail(exchange, toApiError(error)))
      .then((responseBytes) => this.#note(exchange, startedMs, responseBytes));
  }

  takeOver(call: WorkerCall): void {
    call.fail(
      new ApiError("WORKER_UNAVAILABLE", "The worker was replaced while the request waited. Retry the request.", { retryAfterSeconds: 1 }),
    );
  }

  retire(): Promise<void> {
    this.#isRetired = true;
    this.#cache.deleteAll(this.#shelf);
    this.#variants.retire();
    // Responses in progress already have their file open.
    return Promise.resolve();
  }

  restart(): number {
    return 0;
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  /** Returns the number of body bytes. */
  async #answer(exchange: WorkerExchange, relative: string | undefined): Promise<number> {
    const found = await this.#find(relative);
    if (found === "directory") {
      redirectToSlash(exchange);
      return 0;
    }
    if (found) return this.#send(exchange, found);
    const isNavigation = exchange.request.headers.accept?.includes("text/html") ?? false;
    const page = isNavigation ? await this.#read(this.#page) : undefined;
    if (page && page !== "directory") return this.#send(exchange, page);
    return this.#fail(exchange, new ApiError("NOT_FOUND", "The site has no file at this path."));
  }

  #fail({ response, requestId }: WorkerExchange, error: ApiError): 0 {
    this.meter.noteError(error.code);
    sendError(response, error, requestId);
    return 0;
  }

  /** Counts and logs the request when its response has ended, complete or cut off. */
  #note(exchange: WorkerExchange, startedMs: number, responseBytes: number): void {
    const { response } = exchange;
    if (!response.writableEnded && !response.closed) {
      response.once("close", () => this.#note(exchange, startedMs, responseBytes));
      return;
    }
    const nowMs = performance.now();
    const durationMs = nowMs - startedMs;
    const status = response.headersSent ? response.statusCode : 0;
    this.meter.note(status, durationMs, nowMs);
    this.requestLog.write(exchange, { status, durationMs, responseBytes });
  }

  /** Returns the file of a path; "directory" when its index needs a trailing slash. */
  async #find(relative: string | undefined): Promise<StaticFile | "directory" | undefined> {
    if (relative === undefined) return undefined;
    const file = this.#fileOf(relative);
    const found = await this.#read(file);
    if (found && found !== "directory") return found;
    if (found === "directory") {
      const index = await this.#read(`${file}/index.html`);
      if (index && index !== "directory") {
        await index.handle?.close();
        return "directory";
      }
    }
    if (relative === "" || relative.endsWith("/")) return undefined;
    // A static export of Next.js writes the page /about to about.html, next to a folder about/ without an index.
    const page = await this.#read(`${relative}.html`);
    return page === "directory" ? undefined : page;
  }

  #fileOf(relative: string): string {
    if (relative === "") return this.#page;
    return relative.endsWith("/") ? `${relative}index.html` : relative;
  }

  async #read(file: string): Promise<StaticFile | "directory" | undefined> {
    if (this.#isPackageRoot && metadataFiles.has(file)) return undefined;
    const found = await readStaticFile(this.#folder, path.join(this.#folder.root, file));
    if (found && found !== "directory" && found.body && !this.#isRetired) this.#cache.set(this.#shelf, file, found);
    else this.#cache.delete(this.#shelf, file);
    return found;
  }

  async #send(exchange: WorkerExchange, file: StaticFile): Promise<number> {
    return this.#responses.send(exchange, await this.#variants.make(exchange, file));
  }
}

/** Matches paths without encoded, hidden or empty segments, which are nearly all. */
const plainPath = /^(?:\/[\w~-][\w.~-]*)*\/?$/;

/** Returns the decoded path below the site; undefined when it cannot name a served file. */
function relativePath(urlPath: string): string | undefined {
  if (plainPath.test(urlPath)) return urlPath.slice(1);
  const segments = urlPath.split("/").slice(1);
  const names: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const name = decodedSegment(segment);
    const isLast = index === segments.length - 1;
    if (name === undefined || (name === "" && !isLast) || name.startsWith(".")) return undefined;
    names.push(name);
  }
  return names.join("/");
}

function redirectToSlash({ response, requestId, address }: WorkerExchange): void {
  // The redirect is relative to the last path segment. Therefore no request path can redirect to another host.
  const last = address.path.slice(address.path.lastIndexOf("/") + 1);
  response.writeHead(308, ["location", `./${last}/${address.query}`, "content-length", "0", "x-request-id", requestId]);
  response.end();
}

function sendMethodNotAllowed({ response, requestId }: WorkerExchange, error: ApiError): void {
  const body = JSON.stringify(error.toBody());
  response.writeHead(405, {
    allow: "GET, HEAD",
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
  });
  response.end(body);
}
