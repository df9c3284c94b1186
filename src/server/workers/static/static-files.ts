import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { ApiError } from "../../../shared/api-error.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";
import { sendError, toApiError } from "../../web/error-response.js";
import { isPathWithin } from "../../platform/path-within.js";
import { relativeFilePath } from "../../web/file-path.js";
import { mayWorkerRespondWith } from "../../web/response-headers.js";
import type { ServedVersion } from "../engine/version-handler.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { WorkerMeter } from "../engine/worker-meter.js";
import type { RequestLog } from "../logs/request-log.js";
import type { CompressedFiles } from "./compressed-files.js";
import { FileResponses } from "./file-responses.js";
import { FileVariants, publicVariables } from "./file-variants.js";
import type { PageInjection } from "./page-injection.js";
import { readStaticFile, type SiteCache, type StaticCache, type SiteFolder, type StaticFile } from "./static-file.js";

/** Time in ms after which the daemon checks a cached file on the disk again, because files can be edited. */
const recheckMs = 1000;
/** Headers that describe the file itself. The daemon sets these headers, and the manifest cannot override them. */
const describedByUs = new Set([
  "content-type",
  "content-length",
  "content-range",
  "etag",
  "last-modified",
  "accept-ranges",
  "x-request-id",
]);
const notFoundPage = "404.html";
/** Returns true if a site is allowed to send a header on an origin that the site shares with other workers. */
const isForPaths = ([name, value]: readonly [string, string]): boolean => mayWorkerRespondWith(name, value, { ownsOrigin: false });

export interface StaticFilesOptions {
  readonly version: ServedVersion;
  /** The served folder, relative to the package folder. `.` is the package folder itself. */
  readonly directory: string;
  /** File that is served at the path of the folder itself. The file name is relative to the folder. */
  readonly page: string;
  /**
   * Response when a browser opens a path without a file. `spa`: the file `page`. `404`: the file `404.html`. `either`: `404.html` if the
   * file exists, otherwise `page`. Undefined: none of them.
   */
  readonly notFound: "spa" | "404" | "either" | undefined;
  /** Returns true if the daemon never serves a file. `file` is the file's path relative to the folder. */
  readonly isExcluded: (file: string) => boolean;
  readonly cache: StaticCache;
  readonly compressed: CompressedFiles;
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
}

/** The files below one folder of a package, served to GET and HEAD requests. */
export class StaticFiles {
  readonly #options: StaticFilesOptions;
  readonly #folder: SiteFolder;
  readonly #siteCache: SiteCache = new Map();
  readonly #variants: FileVariants;
  readonly #responses: FileResponses;
  #isRetired = false;

  /** Opens the served folder. Rejects if the folder does not exist, or is a link to a path outside the package folder. */
  static async open(options: StaticFilesOptions): Promise<StaticFiles> {
    const { version, directory } = options;
    const [root, packageFolder] = await Promise.all([realpath(path.join(version.folder, directory)), realpath(version.folder)]);
    if (!isPathWithin(root, packageFolder)) throw new Error(`${directory} is outside of the package folder.`);
    return new StaticFiles(options, root);
  }

  private constructor(options: StaticFilesOptions, root: string) {
    this.#options = options;
    const { manifest, generation } = options.version;
    const headers = fileHeadersOf(manifest);
    const pathHeaders = headers.filter(isForPaths);
    this.#responses = new FileResponses({ originHeaders: headers.filter((header) => !isForPaths(header)) });
    this.#folder = {
      root,
      generation,
      marksOf: (relative) => ({
        headers: pathHeaders,
        isImmutable: manifest.immutable.some((folder) => relative.startsWith(path.join(folder, "/"))),
      }),
    };
    this.#variants = new FileVariants({
      cache: options.cache,
      compressed: options.compressed,
      injection: injectionOf(manifest),
      contains: async (file, { isLink }) => {
        const names = isLink ? [file, `${file}.html`, path.posix.join(file, "index.html")] : [file];
        const found = names.filter((name) => !options.isExcluded(name)).map((name) => isFile(path.join(root, name)));
        return (await Promise.all(found)).includes(true);
      },
    });
  }

  /** Sends the file at the path of the request. If neither this file nor a page for missing files exists, calls `onMissing`. */
  handle(exchange: WorkerExchange, onMissing: (startedMs: number) => void): void {
    const startedMs = performance.now();
    const relative = relativeFilePath(exchange.address.path);
    const cached = relative === undefined || this.#isRetired ? undefined : this.#siteCache.get(this.#fileOf(relative));
    const isFresh = cached && startedMs - cached.checkedMs < recheckMs;
    const ready = isFresh && this.#variants.inMemory(exchange, cached.file);
    if (ready) {
      this.#options.meter.beganCount += 1;
      return this.#note(exchange, startedMs, this.#responses.send(exchange, ready));
    }
    // Marks the cached file as checked. Only this request then reads the disk, and requests at the same time use the cached file.
    if (cached) cached.checkedMs = startedMs;
    void this.#handleFromDisk(exchange, { startedMs, relative, onMissing });
  }

  /** Sends an error, and counts and logs the request. */
  fail(exchange: WorkerExchange, startedMs: number, error: ApiError): void {
    const { meter } = this.#options;
    meter.beganCount += 1;
    meter.noteError(error.code);
    sendError(exchange.response, error, exchange.requestId);
    this.#note(exchange, startedMs, 0);
  }

  /**
   * Removes all files of this folder from the cache. Running responses do not need the cache, because they have the file in memory or open.
   */
  retire(): void {
    this.#isRetired = true;
    this.#options.cache.deleteAll(this.#siteCache);
    this.#variants.retire();
  }

  async #handleFromDisk(
    exchange: WorkerExchange,
    found: { startedMs: number; relative: string | undefined; onMissing: (startedMs: number) => void },
  ): Promise<void> {
    const { meter } = this.#options;
    // Counts the read, so that the package cache does not delete the folder. `beganCount` does not include this request yet.
    meter.readingCount += 1;
    const { startedMs, relative, onMissing } = found;
    try {
      const responseBytes = await this.#answer(exchange, relative);
      if (responseBytes === undefined) return onMissing(startedMs);
      meter.beganCount += 1;
      this.#note(exchange, startedMs, responseBytes);
    } catch (error) {
      this.fail(exchange, startedMs, toApiError(error));
    } finally {
      meter.readingCount -= 1;
    }
  }

  /**
   * Sends a file, a redirect or the page for missing files, and returns the number of body bytes. If none of them exists, sends nothing and
   * returns undefined.
   */
  async #answer(exchange: WorkerExchange, relative: string | undefined): Promise<number | undefined> {
    const found = await this.#find(relative);
    if (found === "directory") {
      redirectToSlash(exchange);
      return 0;
    }
    if (found) return this.#send(exchange, found);
    const isNavigation = exchange.request.headers.accept?.includes("text/html") ?? false;
    return isNavigation ? this.#sendFallback(exchange) : undefined;
  }

  async #sendFallback(exchange: WorkerExchange): Promise<number | undefined> {
    const { notFound, page } = this.#options;
    if (notFound === undefined) return undefined;
    const missing = notFound === "spa" ? undefined : await this.#read(notFoundPage);
    if (missing && missing !== "directory") return this.#send(exchange, missing, 404);
    const entry = notFound === "404" ? undefined : await this.#read(page);
    return entry && entry !== "directory" ? this.#send(exchange, entry) : undefined;
  }

  /** Counts and logs the request after its response has ended or its connection has closed. */
  #note(exchange: WorkerExchange, startedMs: number, responseBytes: number): void {
    const { response } = exchange;
    if (!response.writableEnded && !response.closed) {
      response.once("close", () => this.#note(exchange, startedMs, responseBytes));
      return;
    }
    const nowMs = performance.now();
    const durationMs = nowMs - startedMs;
    const status = response.headersSent ? response.statusCode : 0;
    this.#options.meter.note(status, durationMs, nowMs);
    this.#options.requestLog.write(exchange, { status, durationMs, responseBytes });
  }

  /** Returns the file for a path. Returns "directory" if the path lacks the slash at the end of a folder with an `index.html`. */
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
    // Serves the file about.html at the path /about. A static export of Next.js can contain both about.html and a folder about/ without an
    // index.html.
    const page = await this.#read(`${relative}.html`);
    return page === "directory" ? undefined : page;
  }

  #fileOf(relative: string): string {
    if (relative === "") return this.#options.page;
    return relative.endsWith("/") ? `${relative}index.html` : relative;
  }

  async #read(file: string): Promise<StaticFile | "directory" | undefined> {
    const { cache, isExcluded } = this.#options;
    if (isExcluded(file)) return undefined;
    const found = await readStaticFile(this.#folder, path.join(this.#folder.root, file));
    if (found && found !== "directory" && found.body && !this.#isRetired) cache.set(this.#siteCache, file, found);
    else cache.delete(this.#siteCache, file);
    return found;
  }

  async #send(exchange: WorkerExchange, file: StaticFile, status: 200 | 404 = 200): Promise<number> {
    const variant = await this.#variants.make(exchange, file);
    return status === 404 ? this.#responses.sendNotFound(exchange, variant) : this.#responses.send(exchange, variant);
  }
}

async function isFile(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isFile() ?? false;
}

/** Returns the headers from the manifest that responses with files can have, with lower-case names. */
export function fileHeadersOf({ headers }: WorkerManifest): (readonly [name: string, value: string])[] {
  return Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => mayWorkerRespondWith(name, value, { ownsOrigin: true }) && !describedByUs.has(name));
}

/**
 * Returns the content that the daemon inserts into pages of a site. Returns undefined if the manifest declares a `content-encoding`,
 * because the files are then compressed.
 */
function injectionOf(manifest: WorkerManifest): PageInjection | undefined {
  const { injectBase, env, envPrefix } = manifest;
  if (!injectBase || fileHeadersOf(manifest).some(([name]) => name === "content-encoding")) return undefined;
  return { base: injectBase === true ? "absolute" : injectBase, variables: publicVariables(env, envPrefix) };
}

function redirectToSlash({ response, requestId, address }: WorkerExchange): void {
  // The redirect is relative to the last segment of the path. A request path such as `//host` therefore cannot lead to another host.
  const last = address.path.slice(address.path.lastIndexOf("/") + 1);
  response.writeHead(308, ["location", `./${last}/${address.query}`, "content-length", "0", "x-request-id", requestId]);
  response.end();
}
