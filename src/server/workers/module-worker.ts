import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import { toApiError } from "../answer-error.js";
import type { Log } from "../observe/log.js";
import { CrashBackOff } from "./crash-back-off.js";
import type { Entrypoint } from "./entrypoint.js";
import type { IsolatePool } from "./isolate-pool.js";
import type { IsolateEvents, IsolateProcess } from "./isolate-process.js";
import type { ServedApp } from "./served-app.js";
import type { ServedVersion } from "./served-version.js";
import type { TypeScriptCompiler } from "./typescript/typescript-compiler.js";
import { tendIsolate } from "./tend-isolate.js";
import type { Visit } from "./visit.js";
import { WorkerCall } from "./worker-call.js";

/** Calls that one isolate works on at once; more wait in the queue. */
const callsPerIsolate = 1024;
const queueLimit = 1024;
/** Isolates at once for `ttl: 0`, for each of `instances`. */
const freshIsolatesPerInstance = 4;
const shortestSweepMs = 20;
const longestSweepMs = 500;
/** A short `timeout` is about requests; starting a process and importing code may take this long all the same. */
const shortestStartTimeoutMs = 5000;

export interface ModuleWorkerOptions {
  readonly version: ServedVersion;
  readonly entrypoint: Entrypoint;
  readonly pool: IsolatePool;
  readonly compiler: TypeScriptCompiler;
  readonly limits: { readonly maxBodySizeBytes: number; readonly workerMemoryMaxBytes: number };
  readonly writeHead: (visit: Visit) => string | undefined;
  /** Finds another worker for a call that came here before this version was replaced. */
  readonly reroute: (call: WorkerCall) => void;
  readonly log: Log;
}

/** One version of a worker that is a module: its isolates, and the calls that wait for them. */
export class ModuleWorker implements ServedApp {
  readonly #options: ModuleWorkerOptions;
  readonly #log: Log;
  readonly #maxBodySizeBytes: number;
  readonly #isEphemeral: boolean;
  readonly #mostIsolates: number;
  readonly #isolates = new Set<IsolateProcess>();
  readonly #starts = new Set<Promise<void>>();
  #queue: WorkerCall[] = [];
  /** Starts that wait for another worker to give up its place in the pool. */
  #waitingForPlace = 0;
  readonly #backOff = new CrashBackOff();
  #lastStartError: ApiError | undefined;
  #bundle: Promise<string> | undefined;
  #sweepTimer: NodeJS.Timeout | undefined;
  #isRetired = false;
  #onQuiet: (() => void) | undefined;

  constructor(options: ModuleWorkerOptions) {
    this.#options = options;
    const { manifest, name, version } = options.version;
    this.#log = options.log.child({ worker: name, version });
    this.#maxBodySizeBytes = Math.min(manifest.maxBodySize, options.limits.maxBodySizeBytes);
    this.#isEphemeral = manifest.ttl === 0;
    this.#mostIsolates = this.#isEphemeral ? manifest.instances * freshIsolatesPerInstance : manifest.instances;
  }

  handle(visit: Visit): void {
    const head = this.#options.writeHead(visit);
    const call = new WorkerCall({
      visit,
      head: head ?? "",
      timeoutMs: this.#options.version.manifest.timeout,
      maxBodySizeBytes: this.#maxBodySizeBytes,
      onFailure: (error) => this.#log.warn({ requestId: visit.requestId, code: error.code, err: error.cause }, error.message),
    });
    if (head === undefined) return call.fail(new ApiError("INVALID_REQUEST", "The Host header is not a host name with an optional port."));
    call.prepare(this.#dispatch);
  }

  takeOver(call: WorkerCall): void {
    this.#dispatch(call);
  }

  async retire(movedTo: string | undefined): Promise<void> {
    this.#isRetired = true;
    for (const call of this.#queue.splice(0)) this.#options.reroute(call);
    const isolates = [...this.#isolates];
    if (movedTo !== undefined) await Promise.all(isolates.map((isolate) => isolate.slot.link(movedTo).catch(() => undefined)));
    for (const isolate of isolates) isolate.drain();
    // One that is starting sees that it is too late, and ends as soon as it could have begun.
    await Promise.all(this.#starts);
    await Promise.all([...isolates, ...this.#isolates].map((isolate) => isolate.exited));
  }

  async drain(): Promise<void> {
    if (this.#isQuiet()) return;
    await new Promise<void>((resolve) => (this.#onQuiet = resolve));
  }

  readonly #dispatch = (call: WorkerCall): void => {
    if (call.isDone) return;
    if (this.#isRetired) return this.#options.reroute(call);
    const isolate = this.#isEphemeral ? undefined : this.#leastBusy();
    this.#sweepTimer ??= setInterval(this.#sweep, this.#sweepMs());
    // A call that is given to one that is blocked would be lost with it.
    if (isolate?.isResponsive()) return this.#run(isolate, call);
    const refusal = this.#refusal();
    if (refusal) return call.fail(refusal);
    this.#queue.push(call);
    this.#ensureIsolates();
  };

  #run(isolate: IsolateProcess, call: WorkerCall): void {
    isolate.run(call);
    const { maxRequests } = this.#options.version.manifest;
    if (this.#isEphemeral || (maxRequests > 0 && isolate.calls.acceptedCount >= maxRequests)) isolate.drain();
    else if (isolate.calls.runningCount > 1 && this.#isolates.size + this.#starts.size < this.#mostIsolates) this.#start();
  }

  #leastBusy(): IsolateProcess | undefined {
    let best: IsolateProcess | undefined;
    for (const isolate of this.#isolates) {
      if (!isolate.isAccepting || isolate.calls.runningCount >= callsPerIsolate) continue;
      if (!best || isolate.calls.runningCount < best.calls.runningCount) best = isolate;
    }
    return best;
  }

  /** Why a call cannot even wait. */
  #refusal(): ApiError | undefined {
    const blockedMs = this.#backOff.remainingMs(performance.now());
    if (blockedMs > 0 && this.#isolates.size === 0) {
      if (this.#lastStartError) return this.#lastStartError;
      const retryAfterSeconds = Math.ceil(blockedMs / 1000);
      return new ApiError("WORKER_UNAVAILABLE", `The worker crashed repeatedly; it is started again in ${retryAfterSeconds} s.`, {
        retryAfterSeconds,
      });
    }
    if (this.#queue.length < queueLimit) return undefined;
    return saturated();
  }

  #ensureIsolates(): void {
    const running = [...this.#isolates].filter((isolate) => isolate.isServing).length;
    const wanted = Math.min(this.#mostIsolates, this.#isEphemeral ? this.#isolates.size + this.#queue.length : 1);
    const existing = (this.#isEphemeral ? this.#isolates.size : running) + this.#starts.size;
    for (let count = existing; count < wanted; count += 1) this.#start();
  }

  #start(): void {
    const start = this.#startIsolate()
      .catch((error: unknown) => this.#onStartFailure(error))
      .finally(() => {
        this.#starts.delete(start);
        if (this.#queue.length > 0) this.#ensureIsolates();
      });
    this.#starts.add(start);
  }

  async #startIsolate(): Promise<void> {
    const { version, entrypoint, limits } = this.#options;
    const { manifest, folder } = version;
    const isTypeScript = entrypoint.kind === "typescript";
    const bundle = isTypeScript ? await this.#compile(folder, entrypoint.file) : undefined;
    const isolate = await this.#acquire(Math.min(manifest.memory, limits.workerMemoryMaxBytes));
    isolate.events = this.#events;
    const timeoutMs = this.#startTimeoutMs();
    const timer = setTimeout(() => isolate.kill(`its code was not loaded within ${timeoutMs} ms`), timeoutMs);
    try {
      await isolate.slot.link(folder);
      const entry = bundle === undefined ? path.join(isolate.slot.appPath, entrypoint.file) : await isolate.slot.addModule(bundle);
      await isolate.load({ entry, env: manifest.env, sourceMaps: isTypeScript });
    } catch (error) {
      // What the code said is repeated for a while; a process that died says nothing about the next one.
      this.#lastStartError = isolate.hasCrashed ? undefined : toApiError(error);
      void isolate.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.#lastStartError = undefined;
    this.#isolates.add(isolate);
    if (this.#isRetired) return isolate.drain();
    if (!this.#isEphemeral) tendIsolate(isolate, manifest);
    this.#feed(isolate);
    if (isolate.calls.acceptedCount === 0 && this.#isEphemeral) isolate.drain();
  }

  async #acquire(memoryBytes: number): Promise<IsolateProcess> {
    this.#waitingForPlace += 1;
    try {
      return await this.#options.pool.acquire(memoryBytes, () => this.#queue.some((call) => !call.isDone));
    } finally {
      this.#waitingForPlace -= 1;
    }
  }

  async #compile(folder: string, file: string): Promise<string> {
    try {
      return await (this.#bundle ??= this.#options.compiler.compile({ folder, file }));
    } catch (error) {
      this.#bundle = undefined;
      this.#lastStartError = toApiError(error);
      throw error;
    }
  }

  #onStartFailure(error: unknown): void {
    const failure = toApiError(error);
    this.#log.warn({ err: failure.cause, code: failure.code }, failure.message);
    if (this.#isRetired) return;
    if (failure.code === "WORKER_START_FAILED") {
      this.#backOff.noteFailure(performance.now());
    }
    if (this.#isolates.size === 0 || this.#isEphemeral) for (const call of this.#queue.splice(0)) call.fail(failure);
  }

  /** Gives waiting calls to an isolate. */
  #feed(isolate: IsolateProcess): void {
    while (this.#queue.length > 0 && isolate.isAccepting && isolate.calls.runningCount < callsPerIsolate) {
      const call = this.#queue.shift() as WorkerCall;
      if (call.isDone) continue;
      call.touch();
      this.#run(isolate, call);
    }
  }

  readonly #events: IsolateEvents = {
    onRoom: (isolate) => {
      if (this.#queue.length > 0) this.#feed(isolate);
      if (!isolate.isIdle) return;
      this.#options.pool.noteIdle();
      this.#noteQuiet();
    },
    onExit: (isolate) => {
      const wasRunning = this.#isolates.delete(isolate);
      if (wasRunning && isolate.hasCrashed) this.#backOff.noteFailure(performance.now());
      this.#noteQuiet();
      if (this.#queue.length === 0) return;
      const refusal = this.#refusal();
      if (refusal) for (const call of this.#queue.splice(0)) call.fail(refusal);
      else this.#ensureIsolates();
    },
    onOutput: (line, source) => this.#log.info({ source }, line),
    onNotice: (text) => this.#log.warn(text),
  };

  readonly #sweep = (): void => {
    const now = performance.now();
    // While it starts a call may wait longer than a running one; for a place in the pool it may not.
    const graceMs = this.#waitingForPlace > 0 || this.#starts.size === 0 ? 0 : this.#startTimeoutMs();
    for (const call of this.#queue.filter((waiting) => !waiting.isDone && now > waiting.deadlineMs + graceMs)) {
      call.fail(this.#waitingForPlace > 0 && this.#isolates.size === 0 ? saturated() : timedOut(call));
    }
    this.#queue = this.#queue.filter((call) => !call.isDone);
    this.#noteQuiet();
    let isBusy = this.#queue.length > 0;
    for (const isolate of this.#isolates) {
      this.#sweepIsolate(isolate, now);
      isBusy ||= isolate.calls.runningCount > 0 || isolate.isSilent;
    }
    if (isBusy) return;
    clearInterval(this.#sweepTimer);
    this.#sweepTimer = undefined;
  };

  #sweepIsolate(isolate: IsolateProcess, now: number): void {
    for (const call of isolate.calls) {
      if (now <= call.deadlineMs) continue;
      if (call.isIsolatesTurn) call.fail(timedOut(call));
      else call.touch();
    }
    isolate.killIfBlocked(now, this.#queue.length > 0);
  }

  #startTimeoutMs(): number {
    return Math.max(this.#options.version.manifest.timeout, shortestStartTimeoutMs);
  }

  #sweepMs(): number {
    return Math.min(longestSweepMs, Math.max(shortestSweepMs, this.#options.version.manifest.timeout / 10));
  }

  #noteQuiet(): void {
    if (this.#onQuiet && this.#isQuiet()) this.#onQuiet();
  }

  #isQuiet(): boolean {
    return this.#queue.length === 0 && [...this.#isolates].every((isolate) => isolate.isIdle);
  }
}

function timedOut(call: WorkerCall): ApiError {
  return new ApiError("WORKER_TIMEOUT", `The worker did not answer within ${call.timeoutMs} ms.`);
}

function saturated(): ApiError {
  return new ApiError("WORKER_POOL_SATURATED", "Too many requests wait for this worker; try again in a moment.", { retryAfterSeconds: 1 });
}
