import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { parseSizeBytes } from "../../shared/size.js";
import { answerError } from "../answer-error.js";
import type { Log } from "../observe/log.js";
import { findEntrypoint } from "./entrypoint.js";
import { IsolatePool } from "./isolate-pool.js";
import { ModuleWorker } from "./module-worker.js";
import { RequestHeads } from "./request-head.js";
import type { ServedApp } from "./served-app.js";
import type { ServedVersion } from "./served-version.js";
import { StaticCache } from "./static/static-cache.js";
import { StaticSite } from "./static/static-site.js";
import { TypeScriptCompiler } from "./typescript/typescript-compiler.js";
import type { Visit } from "./visit.js";
import { parseWorkerPath } from "./worker-path.js";

const drainTimeoutMs = 30_000;
const defaultMemoryBytes = parseSizeBytes("128mb") as number;

export interface WorkerEngineOptions {
  /** The enabled version that answers for a name and a range; on the path of every request. */
  readonly resolve: (name: string, range: string | undefined) => ServedVersion | undefined;
  readonly limits: { readonly poolSize: number; readonly maxBodySizeBytes: number; readonly workerMemoryMaxBytes: number };
  /** A private folder, made and cleaned here. */
  readonly slotsDirectory: string;
  /** True for a bearer token that is a key of ours: apps never see one. */
  readonly isOurKey: (token: string) => boolean;
  readonly log: Log;
}

interface Entry {
  readonly version: ServedVersion;
  readonly opening: Promise<ServedApp>;
  app: ServedApp | undefined;
}

/** Serves all workers: finds the version that a path means and has its static site or its isolates answer. */
export class WorkerEngine {
  readonly #options: WorkerEngineOptions;
  readonly #pool: IsolatePool;
  readonly #compiler = new TypeScriptCompiler();
  readonly #cache = new StaticCache();
  readonly #heads: RequestHeads;
  /** What is current, by folder. */
  readonly #entries = new Map<string, Entry>();
  /** What was replaced in place and is not retired yet. */
  readonly #superseded = new Set<Entry>();
  #isClosing = false;

  constructor(options: WorkerEngineOptions) {
    this.#options = options;
    this.#heads = new RequestHeads({ isOurKey: options.isOurKey });
    this.#pool = new IsolatePool({
      size: options.limits.poolSize,
      blankMemoryBytes: Math.min(defaultMemoryBytes, options.limits.workerMemoryMaxBytes),
      directory: options.slotsDirectory,
      log: options.log,
    });
  }

  /** Answers a request that is not the API's, whatever its target: with a worker, a redirect or an error. */
  handle(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const address = parseWorkerPath(request.url ?? "");
    if (!address) return answerError(response, notFound(), requestId);
    this.#route({ request, response, requestId, address }, (app, visit) => this.#enter(app, visit));
  }

  /**
   * Stops serving from a folder. What still runs reads from `movedTo`, when given, until the promise resolves: then no isolate uses
   * either of them.
   */
  async retire(folder: string, movedTo: string | undefined): Promise<void> {
    const older = [...this.#superseded].filter((entry) => entry.version.folder === folder);
    const current = this.#entries.get(folder);
    // A request may have come between the swap and this call: then the current one is already the new one.
    const entries = older.length > 0 ? older : current ? [current] : [];
    if (older.length === 0) this.#entries.delete(folder);
    await Promise.all(
      entries.map(async (entry) => {
        const app = await entry.opening.catch(() => undefined);
        await app?.retire(movedTo);
        this.#superseded.delete(entry);
      }),
    );
  }

  /** Takes nothing new, lets what is in flight finish for up to 30 s, then ends every isolate. */
  async close(): Promise<void> {
    this.#isClosing = true;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, drainTimeoutMs)));
    const apps = [...this.#entries.values(), ...this.#superseded].flatMap((entry) => entry.app ?? []);
    await Promise.race([Promise.all(apps.map((app) => app.drain())), timeout]);
    clearTimeout(timer);
    this.#compiler.close();
    await this.#pool.close();
  }

  #route(visit: Visit, onApp: (app: ServedApp, visit: Visit) => void): void {
    const { response, requestId, address } = visit;
    if (this.#isClosing) return answerError(response, stopping(), requestId);
    const version = this.#options.resolve(address.name, address.range);
    if (!version) return answerError(response, notFound(), requestId);
    if (version.problem !== undefined) return answerError(response, new ApiError("WORKER_START_FAILED", version.problem), requestId);
    const entry = this.#entryOf(version);
    if (entry.app) return onApp(entry.app, visit);
    entry.opening.then(
      (app) => onApp(app, visit),
      (error: unknown) => answerError(response, error, requestId),
    );
  }

  #enter(app: ServedApp, visit: Visit): void {
    const { address, request } = visit;
    if (address.path !== "") return app.handle(visit);
    if (request.method === "GET" || request.method === "HEAD") return redirectToBase(visit);
    app.handle({ ...visit, address: { ...address, path: "/" } });
  }

  #entryOf(version: ServedVersion): Entry {
    const existing = this.#entries.get(version.folder);
    if (existing?.version.generation === version.generation) return existing;
    if (existing) this.#superseded.add(existing);
    const entry: Entry = { version, opening: this.#open(version), app: undefined };
    entry.opening.then(
      (app) => (entry.app = app),
      () => undefined,
    );
    this.#entries.set(version.folder, entry);
    return entry;
  }

  async #open(version: ServedVersion): Promise<ServedApp> {
    const entrypoint = await findEntrypoint(version);
    if (entrypoint.kind === "static") return StaticSite.open({ version, file: entrypoint.file, cache: this.#cache });
    return new ModuleWorker({
      version,
      entrypoint,
      pool: this.#pool,
      compiler: this.#compiler,
      limits: this.#options.limits,
      writeHead: ({ request, requestId, address }) =>
        this.#heads.write(request, { base: address.base, path: address.path + address.query, requestId }),
      reroute: (call) => this.#route(call.visit, (app) => app.takeOver(call)),
      log: this.#options.log,
    });
  }
}

/** From `/app` to `/app/`: an absolute path, so it holds behind any proxy, and never the name of a host. */
function redirectToBase({ response, requestId, address }: Visit): void {
  response.writeHead(308, ["location", `${address.base}/${address.query}`, "content-length", "0", "x-request-id", requestId]);
  response.end();
}

function notFound(): ApiError {
  return new ApiError("NOT_FOUND", "Nothing answers at this path.");
}

function stopping(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping; try again in a moment.", { retryAfterSeconds: 5 });
}
