import path from "node:path";
import type { AssetsOrder } from "../protocol/assets-order.js";
import type { ApiError } from "../../../shared/api-error.js";
import { toApiError } from "../../web/error-response.js";
import { sourceMapsFolder, findEntrypoint, type Entrypoint } from "../engine/entrypoint.js";
import type { IsolateNeeds, IsolatePool, ReservedIsolate } from "./isolate-pool.js";
import type { IsolateEvents, IsolateProcess } from "./isolate-process.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import type { DataLease } from "../data/data-folder.js";
import type { WorkerStorage } from "../data/worker-storage.js";
import type { ServedVersion } from "../engine/version-handler.js";
import { CannotLinkFiles } from "./sandbox-folder.js";
import type { CompiledModule } from "../typescript/compile-job.js";
import type { TypeScriptCompiler } from "../typescript/typescript-compiler.js";
import type { Log } from "../../log/log.js";
import { WorkerOutput } from "../logs/isolate-output.js";
import type { WorkerLogs } from "../logs/worker-logs.js";

/** Minimum time limit in ms for a start. `timeout` of the worker is for requests and can be too short for the start of a process. */
const shortestStartTimeoutMs = 5000;

interface IsolateStarterOptions {
  readonly version: ServedVersion;
  readonly entrypoint: Entrypoint;
  /** Returns the current environment variables of the worker. Throws WORKER_START_FAILED if a variable is missing. */
  readonly environment: () => Readonly<Record<string, string>>;
  readonly pool: IsolatePool;
  readonly compiler: TypeScriptCompiler;
  /** Addresses that the worker is allowed to connect to. */
  readonly network: WorkerNetwork;
  readonly limits: { readonly workerMemoryMaxBytes: number };
  readonly storage: WorkerStorage;
  /** Returns the description of the static files that `env.ASSETS` serves. Undefined if the worker has no static files. */
  readonly assets: (entrypoint: Entrypoint) => Promise<AssetsOrder | undefined>;
  /** True if the daemon only checks the version. Its isolate gets a temporary folder in place of the data folder. */
  readonly isTrial: boolean;
}

/** Starts isolates with the worker. Compiles the code if necessary, gets an isolate from the pool and imports the code. */
export class IsolateStarter {
  /** Time limit in ms for loading the code. The time begins when the pool has provided the isolate. */
  readonly timeoutMs: number;
  readonly #options: IsolateStarterOptions;
  #bundle: Promise<CompiledModule> | undefined;
  #assets: Promise<AssetsOrder | undefined> | undefined;
  #waitingStarts = 0;
  /** Isolates that are loading the worker, each with the time at which the load began, by the clock of `performance.now()`. */
  readonly loading = new Map<IsolateProcess, number>();
  /** True if the worker needs dedicated isolates, whose file rules contain the worker's folder. */
  #needsOwnRules: boolean;
  #lastError: ApiError | undefined;

  constructor(options: IsolateStarterOptions) {
    this.#options = options;
    const { permissions, network, data } = options.version.manifest;
    this.#needsOwnRules = permissions.length > 0 || network !== undefined || data !== undefined;
    this.timeoutMs = Math.max(options.version.manifest.timeout, shortestStartTimeoutMs);
  }

  /** True while a start waits because the pool is full. */
  get isWaitingForPool(): boolean {
    return this.#waitingStarts > 0;
  }

  /**
   * Error of the last attempt to load the code. Undefined after a success. A crash of the process is not recorded here, because the next
   * start can succeed.
   */
  get lastError(): ApiError | undefined {
    return this.#lastError;
  }

  /** Discards the compiled code and the last error. The next start compiles the code again. */
  discardResult(): void {
    this.#bundle = undefined;
    this.#lastError = undefined;
  }

  /** Starts an isolate and loads the worker. If the pool is full, waits while `isWanted` returns true. Rejects with an ApiError. */
  async start(events: IsolateEvents, isWanted: () => boolean): Promise<IsolateProcess> {
    const { entrypoint } = this.#options;
    const isTypeScript = entrypoint.kind === "typescript";
    const env = this.#readEnvironment();
    const bundle = isTypeScript ? await this.#compile(events) : undefined;
    const isolate = await this.#acquireWithFolders(isWanted);
    isolate.events = events;
    this.loading.set(isolate, performance.now());
    const timer = setTimeout(() => isolate.kill(`the code was not loaded within ${this.timeoutMs} ms`), this.timeoutMs);
    try {
      const entry = bundle === undefined ? path.join(isolate.slot.appPath, entrypoint.file) : await isolate.slot.addModule(bundle.text);
      await isolate.load({
        entry,
        env: { ...env, ...this.#dataVariable(isolate) },
        sourceMaps: isTypeScript || entrypoint.sourceMap !== undefined,
        assets: await (this.#assets ??= this.#options.assets(entrypoint)),
      });
    } catch (error) {
      void isolate.terminate();
      if (isolate.hasCrashed) throw error;
      // Keeps the error for calls that cannot wait for the next start.
      this.#lastError = (bundle === undefined && (await this.#findSyntaxError(error, events))) || toApiError(error);
      throw this.#lastError;
    } finally {
      clearTimeout(timer);
      this.loading.delete(isolate);
    }
    this.#lastError = undefined;
    this.#options.storage.noteLoaded(isolate);
    return isolate;
  }

  #readEnvironment(): Readonly<Record<string, string>> {
    try {
      return this.#options.environment();
    } catch (error) {
      this.#lastError = toApiError(error);
      throw this.#lastError;
    }
  }

  /** Returns the file, line and column of a syntax error. Writes the full report to the worker's log. */
  async #findSyntaxError(error: unknown, events: IsolateEvents): Promise<ApiError | undefined> {
    if (!(error instanceof Error) || !error.message.includes("SyntaxError")) return undefined;
    const { version, entrypoint, compiler } = this.#options;
    const found = await compiler.findSyntaxError(version.name, { folder: version.folder, file: entrypoint.file });
    if (found?.cause instanceof Error) events.onOutput("error", found.cause.message);
    return found;
  }

  /** Returns the environment variable `DATA_DIR` with the path of the data folder. Empty if the worker has no data folder. */
  #dataVariable({ slot }: IsolateProcess): Readonly<Record<string, string>> {
    const { version, storage, isTrial } = this.#options;
    if (version.manifest.data === undefined) return {};
    return { DATA_DIR: isTrial ? slot.temporaryFolder : storage.folderOf(version.name) };
  }

  /** Gets an isolate that can access the files and the data folder of the worker. */
  async #acquireWithFolders(isWanted: () => boolean): Promise<IsolateProcess> {
    const { version, storage, isTrial } = this.#options;
    const { data } = version.manifest;
    const lease = data === undefined || isTrial ? undefined : await storage.lease(version.name, data);
    try {
      const isolate = await this.#acquireWithFiles(isWanted, lease);
      storage.watch(isolate, isolate.slot.temporaryFolder, lease);
      return isolate;
    } catch (error) {
      if (lease) storage.release(lease);
      throw error;
    }
  }

  /** Gets an isolate that can read the files of the worker. */
  async #acquireWithFiles(isWanted: () => boolean, lease: DataLease | undefined): Promise<IsolateProcess> {
    const { version, entrypoint, limits } = this.#options;
    const { memory, permissions } = version.manifest;
    const { network } = this.#options;
    const hidden = entrypoint.sourceMap === "hidden" ? sourceMapsFolder : undefined;
    const needs = {
      memoryBytes: Math.min(memory, limits.workerMemoryMaxBytes),
      permissions,
      network,
      name: version.name,
      data: lease?.grant,
    };
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

  async #acquire(needs: IsolateNeeds, isWanted: () => boolean): Promise<ReservedIsolate> {
    this.#waitingStarts += 1;
    try {
      return await this.#options.pool.acquire(needs, isWanted);
    } finally {
      this.#waitingStarts -= 1;
    }
  }

  async #compile(events: IsolateEvents): Promise<CompiledModule> {
    const { version, entrypoint, compiler } = this.#options;
    const isCompiled = this.#bundle !== undefined;
    try {
      const bundle = await (this.#bundle ??= compiler.compile(version.name, { folder: version.folder, file: entrypoint.file }));
      if (!isCompiled) for (const warning of bundle.warnings) events.onOutput("warn", warning);
      return bundle;
    } catch (error) {
      this.#bundle = undefined;
      this.#lastError = toApiError(error);
      if (this.#lastError.cause instanceof Error) events.onOutput("error", this.#lastError.cause.message);
      throw error;
    }
  }
}

/**
 * Loads the code of a version once in an isolate of its own. Sends no request. Throws WORKER_START_FAILED if this fails. The output is in
 * the worker's log.
 */
export async function checkLoads(
  options: Omit<IsolateStarterOptions, "entrypoint" | "isTrial"> & { readonly logs: WorkerLogs; readonly log: Log },
): Promise<void> {
  const entrypoint = await findEntrypoint(options.version);
  if (entrypoint.kind === "static") return;
  const { name, version } = options.version;
  const output = new WorkerOutput({ logs: options.logs, log: options.log.child({ worker: name, version }), name, version });
  const events = {
    onCapacity: () => {},
    onExit: () => {},
    onOutput: output.app.bind(output),
    onNotice: output.runtime.bind(output),
  };
  const isolate = await new IsolateStarter({ ...options, entrypoint, isTrial: true }).start(events, () => true);
  void isolate.terminate();
}
