import { ApiError } from "../../../shared/api-error.js";
import type { AssetsOrder } from "../protocol/assets-order.js";
import type { Log } from "../../log/log.js";
import { CallQueue } from "./call-queue.js";
import { DeadlineSweep } from "./deadline-sweep.js";
import type { Entrypoint } from "./entrypoint.js";
import { IsolateSet, type IsolateObserver } from "../isolates/isolate-set.js";
import type { IsolatePool } from "../isolates/isolate-pool.js";
import type { IsolateProcess } from "../isolates/isolate-process.js";
import { IsolateStarter } from "../isolates/isolate-starter.js";
import type { RequestLog } from "../logs/request-log.js";
import type { WorkerLogs } from "../logs/worker-logs.js";
import { WorkerOutput } from "../logs/isolate-output.js";
import type { WorkerStorage } from "../data/worker-storage.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import type { CheckObserver } from "./version-check.js";
import type { IsolateReading, VersionHandler, ServedVersion } from "./version-handler.js";
import type { BandwidthScheduler } from "./bandwidth-scheduler.js";
import type { TypeScriptCompiler } from "../typescript/typescript-compiler.js";
import type { WorkerExchange } from "./worker-exchange.js";
import { WorkerCall, type CallHost } from "./worker-call.js";
import type { WorkerMeter, VersionLoad } from "./worker-meter.js";

export interface ModuleWorkerOptions {
  readonly version: ServedVersion;
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  readonly entrypoint: Entrypoint;
  readonly environment: () => Readonly<Record<string, string>>;
  readonly pool: IsolatePool;
  readonly compiler: TypeScriptCompiler;
  readonly network: WorkerNetwork;
  readonly storage: WorkerStorage;
  /** Returns the description of the static files that `env.ASSETS` serves. Undefined if the worker has no static files. */
  readonly assets: (entrypoint: Entrypoint) => Promise<AssetsOrder | undefined>;
  readonly scheduler: BandwidthScheduler;
  readonly stallTimeoutMs: number;
  readonly limits: { readonly maxBodySizeBytes: number; readonly workerMemoryMaxBytes: number };
  readonly writeHead: (exchange: WorkerExchange) => string | undefined;
  /**
   * Passes a call to the current version. Used if an upload replaced this version after it received the call and before it ran the call.
   */
  readonly reroute: (call: WorkerCall) => void;
  readonly observer: IsolateObserver | undefined;
  /** Receives the output and errors if the daemon only checks this version. Undefined if the version serves requests. */
  readonly checkObserver: CheckObserver | undefined;
  readonly logs: WorkerLogs;
  readonly log: Log;
}

/** One version of a worker with a module, its isolates and its waiting calls. */
export class ModuleVersion implements VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  readonly #options: ModuleWorkerOptions;
  readonly #log: Log;
  readonly #host: CallHost;
  /** Calls whose small request body the daemon is still receiving. */
  readonly #receiving = new Set<WorkerCall>();
  readonly #queue = new CallQueue();
  readonly #starter: IsolateStarter;
  readonly #isolateSet: IsolateSet;
  readonly #sweep: DeadlineSweep;
  #isRetired = false;
  #onDrained: (() => void) | undefined;

  constructor(options: ModuleWorkerOptions) {
    this.#options = options;
    this.meter = options.meter;
    this.requestLog = options.requestLog;
    const { manifest, name, version } = options.version;
    this.#log = options.log.child({ worker: name, version });
    this.#host = {
      timeoutMs: manifest.timeout,
      stallTimeoutMs: options.stallTimeoutMs,
      maxBodySizeBytes: Math.min(manifest.maxBodySize, options.limits.maxBodySizeBytes),
      meter: options.meter,
      requestLog: options.requestLog,
      scheduler: options.scheduler,
      onFailure: ({ requestId }, error) => {
        options.checkObserver?.onFailure(error);
        this.#log.warn({ requestId, code: error.code, err: error.cause }, error.message);
      },
    };
    const queue = this.#queue;
    const { checkObserver, logs } = options;
    const output = new WorkerOutput({ logs, log: this.#log, name, version, onOutput: checkObserver?.onOutput });
    const starter = new IsolateStarter({ ...options, isTrial: checkObserver !== undefined });
    this.#starter = starter;
    this.#isolateSet = new IsolateSet({
      version: options.version,
      observer: options.observer,
      starter,
      queue,
      output,
      onIdle: () => this.#noteIdle(),
    });
    this.#sweep = new DeadlineSweep({
      receiving: this.#receiving,
      queue,
      isolateSet: this.#isolateSet,
      starter,
      timeoutMs: manifest.timeout,
      onSwept: () => this.#noteDrained(),
    });
  }

  get currentLoad(): VersionLoad {
    const isolates = [...this.#isolateSet];
    const running = isolates.filter((isolate) => isolate.isServing).length;
    return {
      kind: "module",
      running,
      starting: this.#isolateSet.startingCount,
      draining: isolates.length - running,
      queued: this.#queue.wantedCount,
      openSockets: isolates.reduce((sum, { openSocketCount }) => sum + openSocketCount, 0),
      pids: isolates.flatMap(({ pid }) => pid ?? []),
      memoryLimitBytes: this.#options.version.manifest.memory,
    };
  }

  get isolates(): readonly IsolateReading[] {
    const loading = [...this.#starter.loading].map(([isolate, startedMs]) => readIsolate(isolate, "starting", startedMs));
    const loaded = [...this.#isolateSet].map((isolate) =>
      readIsolate(isolate, isolate.isServing ? "running" : "draining", isolate.loadedMs),
    );
    return [...loaded, ...loading];
  }

  stopIsolate(pid: number): void {
    for (const isolate of [...this.#isolateSet, ...this.#starter.loading.keys()]) if (isolate.pid === pid) this.#isolateSet.stop(isolate);
  }

  handle(exchange: WorkerExchange): void {
    const head = this.#options.writeHead(exchange);
    const call = new WorkerCall(exchange, head ?? "", this.#host);
    if (head === undefined) return call.fail(new ApiError("INVALID_REQUEST", "The Host header must be a host name with an optional port."));
    call.prepare(this.#onReceived);
    if (!call.isReceiving) return;
    this.#receiving.add(call);
    this.#sweep.wake();
  }

  takeOver(call: WorkerCall): void {
    this.#dispatch(call);
  }

  async retire(movedTo: string | undefined): Promise<void> {
    this.#isRetired = true;
    for (const call of this.#queue.takeAll()) this.#options.reroute(call);
    await this.#isolateSet.retire(movedTo);
  }

  restart(): number {
    return this.#isolateSet.restart();
  }

  async drain(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => (this.#onDrained = resolve));
  }

  readonly #onReceived = (call: WorkerCall): void => {
    this.#receiving.delete(call);
    this.#dispatch(call);
  };

  readonly #dispatch = (call: WorkerCall): void => {
    if (call.isDone) return;
    if (this.#isRetired) return this.#options.reroute(call);
    this.#sweep.wake();
    const isolate = this.#isolateSet.pick();
    if (isolate) return this.#isolateSet.run(isolate, call);
    const refusal = this.#isolateSet.refusal();
    if (refusal) return call.fail(refusal);
    this.#queue.push(call);
    this.#isolateSet.ensure();
  };

  #noteIdle(): void {
    this.#options.pool.noteIdle();
    this.#noteDrained();
  }

  #noteDrained(): void {
    if (this.#onDrained && this.#isIdle()) this.#onDrained();
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && this.#isolateSet.isIdle;
  }
}

/** `startedMs` is a time of `performance.now()`. */
function readIsolate({ pid, calls, openSocketCount }: IsolateProcess, state: IsolateReading["state"], startedMs: number): IsolateReading {
  const startedAt = Math.floor((performance.timeOrigin + startedMs) / 1000);
  return { pid, state, startedAt, requests: calls.acceptedCount, inFlight: calls.runningCount, sockets: openSocketCount };
}
