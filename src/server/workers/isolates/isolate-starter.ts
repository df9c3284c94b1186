import path from "node:path";
import type { ApiError } from "../../../shared/api-error.js";
import { toApiError } from "../../web/error-response.js";
import { sourceMapsFolder, findEntrypoint, type Entrypoint } from "../engine/entrypoint.js";
import type { IsolateNeeds, IsolatePool, Place } from "./isolate-pool.js";
import type { IsolateEvents, IsolateProcess } from "./isolate-process.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import type { ServedVersion } from "../engine/version-handler.js";
import { CannotLinkFiles } from "./sandbox-folder.js";
import type { TypeScriptCompiler } from "../typescript/typescript-compiler.js";
import type { Log } from "../../log/log.js";
import { WorkerOutput } from "../logs/isolate-output.js";
import type { WorkerLogs } from "../logs/worker-logs.js";

/** A short `timeout` is about requests; starting a process and importing code may take this long all the same. */
const shortestStartTimeoutMs = 5000;

interface IsolateStarterOptions {
  readonly version: ServedVersion;
  readonly entrypoint: Entrypoint;
  readonly pool: IsolatePool;
  readonly compiler: TypeScriptCompiler;
  /** What the app may connect to. */
  readonly network: WorkerNetwork;
  readonly limits: { readonly workerMemoryMaxBytes: number };
}

/** Makes isolates that have one app loaded: compiles it where needed, takes a blank from the pool, has it import the code. */
export class IsolateStarter {
  /** How long an isolate may take from the pool's hands until its code is loaded. */
  readonly timeoutMs: number;
  readonly #options: IsolateStarterOptions;
  #bundle: Promise<string> | undefined;
  #waitingForPlace = 0;
  /** Its isolates start with rules for the app's own folder. */
  #needsOwnRules: boolean;
  #lastError: ApiError | undefined;

  constructor(options: IsolateStarterOptions) {
    this.#options = options;
    this.#needsOwnRules = options.version.manifest.permissions.length > 0 || options.version.manifest.network !== undefined;
    this.timeoutMs = Math.max(options.version.manifest.timeout, shortestStartTimeoutMs);
  }

  /** A start waits for another worker to give up its place in the pool. */
  get isWaitingForPlace(): boolean {
    return this.#waitingForPlace > 0;
  }

  /** What the code said when it was last loaded; undefined when it was loaded, or when its process died, which says nothing about the next one. */
  get lastError(): ApiError | undefined {
    return this.#lastError;
  }

  /** The next start compiles and judges the code again. */
  forget(): void {
    this.#bundle = undefined;
    this.#lastError = undefined;
  }

  /** Waits for a place in the pool for as long as somebody wants the isolate. Rejects with an ApiError. */
  async start(events: IsolateEvents, isWanted: () => boolean): Promise<IsolateProcess> {
    const { version, entrypoint } = this.#options;
    const isTypeScript = entrypoint.kind === "typescript";
    const bundle = isTypeScript ? await this.#compile(events) : undefined;
    const isolate = await this.#acquireWithFiles(isWanted);
    isolate.events = events;
    const timer = setTimeout(() => isolate.kill(`its code was not loaded within ${this.timeoutMs} ms`), this.timeoutMs);
    try {
      const entry = bundle === undefined ? path.join(isolate.slot.appPath, entrypoint.file) : await isolate.slot.addModule(bundle);
      await isolate.load({ entry, env: version.manifest.env, sourceMaps: isTypeScript || entrypoint.sourceMap !== undefined });
    } catch (error) {
      void isolate.terminate();
      if (isolate.hasCrashed) throw error;
      // What the code said is repeated for a while.
      this.#lastError = (bundle === undefined && (await this.#findSyntaxError(error, events))) || toApiError(error);
      throw this.#lastError;
    } finally {
      clearTimeout(timer);
    }
    this.#lastError = undefined;
    return isolate;
  }

  /** A failure of JavaScript's syntax with file, line and column; the whole report goes to the worker's log. */
  async #findSyntaxError(error: unknown, events: IsolateEvents): Promise<ApiError | undefined> {
    if (!(error instanceof Error) || !error.message.includes("SyntaxError")) return undefined;
    const { version, entrypoint, compiler } = this.#options;
    const found = await compiler.findSyntaxError(version.name, { folder: version.folder, file: entrypoint.file });
    if (found?.cause instanceof Error) events.onOutput("error", found.cause.message);
    return found;
  }

  /** An isolate that sees the app's files. */
  async #acquireWithFiles(isWanted: () => boolean): Promise<IsolateProcess> {
    const { version, entrypoint, limits } = this.#options;
    const { memory, permissions } = version.manifest;
    const { network } = this.#options;
    const hidden = entrypoint.sourceMap === "hidden" ? sourceMapsFolder : undefined;
    const needs = { memoryBytes: Math.min(memory, limits.workerMemoryMaxBytes), permissions, network, name: version.name };
    if (!this.#needsOwnRules) {
      const isolate = await (await this.#acquire(needs, isWanted)).isolate;
      try {
        await isolate.slot.linkFiles(version.folder, hidden);
        return isolate;
      } catch (error) {
        void isolate.terminate();
        if (!(error instanceof CannotLinkFiles)) throw error;
        this.#needsOwnRules = true;
      }
    }
    return await (
      await this.#acquire({ ...needs, folder: version.folder, hidden }, isWanted)
    ).isolate;
  }

  async #acquire(needs: IsolateNeeds, isWanted: () => boolean): Promise<Place> {
    this.#waitingForPlace += 1;
    try {
      return await this.#options.pool.acquire(needs, isWanted);
    } finally {
      this.#waitingForPlace -= 1;
    }
  }

  async #compile(events: IsolateEvents): Promise<string> {
    const { version, entrypoint, compiler } = this.#options;
    try {
      return await (this.#bundle ??= compiler.compile(version.name, { folder: version.folder, file: entrypoint.file }));
    } catch (error) {
      this.#bundle = undefined;
      this.#lastError = toApiError(error);
      if (this.#lastError.cause instanceof Error) events.onOutput("error", this.#lastError.cause.message);
      throw error;
    }
  }
}

/** Loads a version's code once, aside, without a request. Throws WORKER_START_FAILED when that cannot be done; what it said is in its log. */
export async function checkLoads(
  options: Omit<IsolateStarterOptions, "entrypoint"> & { readonly logs: WorkerLogs; readonly log: Log },
): Promise<void> {
  const entrypoint = await findEntrypoint(options.version);
  if (entrypoint.kind === "static") return;
  const { name, version } = options.version;
  const output = new WorkerOutput({ logs: options.logs, log: options.log.child({ worker: name, version }), name, version });
  const events = {
    onRoom: () => {},
    onExit: () => {},
    onOutput: output.app.bind(output),
    onNotice: output.runtime.bind(output),
  };
  const isolate = await new IsolateStarter({ ...options, entrypoint }).start(events, () => true);
  void isolate.terminate();
}
