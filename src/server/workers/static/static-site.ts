import { createReadStream } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import { answerError } from "../../answer-error.js";
import type { ServedApp } from "../served-app.js";
import { decodedSegment } from "../decoded-segment.js";
import type { ServedVersion } from "../served-version.js";
import type { Visit } from "../visit.js";
import type { WorkerCall } from "../worker-call.js";
import { isUnchanged, requestedRange } from "./conditional.js";
import { injectIntoPage, publicVariables } from "./page-injection.js";
import type { StaticCache } from "./static-cache.js";
import { etagOf, readStaticFile, type StaticFile } from "./static-file.js";

/** A cached file is looked at again on disk after this time, for those who edit in place. */
const recheckMs = 1000;
/** Metadata of the package, at its root. */
const metadataFiles = new Set(["manifest.yaml", "manifest.yml", "package.json"]);

/** One version of a worker that is a static site: the files below its entrypoint's folder. */
export class StaticSite implements ServedApp {
  readonly #version: ServedVersion;
  readonly #cache: StaticCache;
  readonly #root: string;
  readonly #page: string;
  readonly #isPackageRoot: boolean;
  readonly #keyPrefix: string;
  readonly #variables: Record<string, string>;
  #isRetired = false;

  private constructor(options: { version: ServedVersion; file: string; root: string; cache: StaticCache }) {
    const { version, file } = options;
    this.#version = version;
    this.#cache = options.cache;
    this.#root = options.root;
    this.#page = path.posix.basename(file);
    this.#isPackageRoot = path.posix.dirname(file) === ".";
    this.#keyPrefix = `${version.folder}\0${version.generation}\0`;
    this.#variables = publicVariables(version.manifest.env, version.manifest.envPrefix);
  }

  /** `file` is the page, relative to the package folder. */
  static async open(options: { version: ServedVersion; file: string; cache: StaticCache }): Promise<StaticSite> {
    const root = await realpath(path.join(options.version.folder, path.posix.dirname(options.file)));
    return new StaticSite({ ...options, root });
  }

  handle(visit: Visit): void {
    const { request, response, requestId } = visit;
    // A body has no meaning here; unread it would block the connection.
    request.resume();
    if (request.method !== "GET" && request.method !== "HEAD") {
      const error = new ApiError("METHOD_NOT_ALLOWED", `A static site answers GET and HEAD, not ${request.method}.`);
      response.setHeader("allow", "GET, HEAD");
      return answerMethodNotAllowed(visit, error);
    }
    const relative = relativePath(visit.address.path);
    const cached = relative === undefined || this.#isRetired ? undefined : this.#cache.get(this.#keyPrefix + this.#fileOf(relative));
    if (cached && performance.now() - cached.checkedMs < recheckMs) return this.#send(visit, cached.file);
    this.#find(relative).then(
      (found) => this.#answer(visit, found),
      (error: unknown) => answerError(response, error, requestId),
    );
  }

  takeOver(call: WorkerCall): void {
    call.fail(
      new ApiError("WORKER_UNAVAILABLE", "The worker was replaced while the request waited; send it again.", { retryAfterSeconds: 1 }),
    );
  }

  retire(): Promise<void> {
    this.#isRetired = true;
    this.#cache.deleteAll(this.#keyPrefix);
    // What is being sent has its file open already.
    return Promise.resolve();
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  #answer(visit: Visit, found: StaticFile | "directory" | undefined): void {
    if (found === "directory") return redirectToSlash(visit);
    if (found) return this.#send(visit, found);
    const isNavigation = visit.request.headers.accept?.includes("text/html") ?? false;
    const notFound = (): void =>
      answerError(visit.response, new ApiError("NOT_FOUND", "The site has no file at this path."), visit.requestId);
    if (!isNavigation) return notFound();
    this.#read(this.#page).then(
      (page) => (page && page !== "directory" ? this.#send(visit, page) : notFound()),
      (error: unknown) => answerError(visit.response, error, visit.requestId),
    );
  }

  /** The file that a path means; "directory" when its index is one slash away. */
  async #find(relative: string | undefined): Promise<StaticFile | "directory" | undefined> {
    if (relative === undefined) return undefined;
    const file = this.#fileOf(relative);
    const found = await this.#read(file);
    if (found !== "directory") return found;
    const index = await this.#read(`${file}/index.html`);
    return index && index !== "directory" ? "directory" : undefined;
  }

  #fileOf(relative: string): string {
    if (relative === "") return this.#page;
    return relative.endsWith("/") ? `${relative}index.html` : relative;
  }

  async #read(file: string): Promise<StaticFile | "directory" | undefined> {
    if (this.#isPackageRoot && metadataFiles.has(file)) return undefined;
    const found = await readStaticFile(this.#root, path.join(this.#root, file), this.#version.generation);
    if (found && found !== "directory" && !this.#isRetired) this.#cache.set(this.#keyPrefix + file, found);
    return found;
  }

  #send(visit: Visit, file: StaticFile): void {
    if (this.#version.manifest.injectBase && file.body && file.type.startsWith("text/html")) {
      const html = injectIntoPage(file.body.toString("utf8"), { base: visit.address.base, variables: this.#variables });
      const body = Buffer.from(html);
      return sendFile(visit, { ...file, body, sizeBytes: body.length, etag: etagOf(body) });
    }
    sendFile(visit, file);
  }
}

function sendFile({ request, response, requestId }: Visit, file: StaticFile): void {
  const headers = [
    "content-type",
    file.type,
    "etag",
    file.etag,
    "last-modified",
    new Date(file.modifiedMs).toUTCString(),
    "accept-ranges",
    "bytes",
    // Always asked again: an upload must be seen at once.
    "cache-control",
    "no-cache",
    "x-content-type-options",
    "nosniff",
    "x-request-id",
    requestId,
  ];
  if (isUnchanged(request.headers, file)) {
    response.writeHead(304, headers.slice(2));
    response.end();
    return;
  }
  const range = request.method === "GET" ? requestedRange(request.headers, file) : undefined;
  if (range === "unsatisfiable") {
    response.writeHead(416, ["content-range", `bytes */${file.sizeBytes}`, "content-length", "0", "x-request-id", requestId]);
    response.end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: file.sizeBytes - 1 };
  if (range) headers.push("content-range", `bytes ${start}-${end}/${file.sizeBytes}`);
  headers.push("content-length", String(end - start + 1));
  response.writeHead(range ? 206 : 200, headers);
  if (request.method === "HEAD" || end < start) response.end();
  else if (file.body) response.end(range ? file.body.subarray(start, end + 1) : file.body);
  else {
    const stream = createReadStream(file.realPath, { start, end });
    stream.on("error", () => response.destroy());
    response.on("close", () => stream.destroy());
    stream.pipe(response);
  }
}

/** The path below the site, decoded; undefined when it cannot name a file that is served. */
function relativePath(urlPath: string): string | undefined {
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

function redirectToSlash({ response, requestId, address }: Visit): void {
  // Only the last segment: however the path was written, this cannot point to another host.
  const last = address.path.slice(address.path.lastIndexOf("/") + 1);
  response.writeHead(308, ["location", `./${last}/${address.query}`, "content-length", "0", "x-request-id", requestId]);
  response.end();
}

function answerMethodNotAllowed({ response, requestId }: Visit, error: ApiError): void {
  const body = JSON.stringify(error.toBody());
  response.writeHead(405, {
    allow: "GET, HEAD",
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
  });
  response.end(body);
}
