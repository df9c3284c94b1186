import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { CallQueue } from "./call-queue.js";
import { DeadlineSweep } from "./deadline-sweep.js";
import type { Entrypoint } from "./entrypoint.js";
import { IsolateSet, type IsolateObserver } from "../isolates/isolate-set.js";
import type { IsolatePool } from "../isolates/isolate-pool.js";
import { IsolateStarter } from "../isolates/isolate-starter.js";
import type { RequestLog } from "../logs/request-log.js";
import type { WorkerLogs } from "../logs/worker-logs.js";
import { WorkerOutput } from "../logs/isolate-output.js";
import type { WorkerStorage } from "../data/worker-storage.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import type { VersionHandler, ServedVersion } from "./version-handler.js";
import type { BandwidthScheduler } from "./bandwidth-scheduler.js";
import type { TypeScriptCompiler } from "../typescript/typescript-compiler.js";
import type { Visit } from "./visit.js";
import { WorkerCall, type CallHost } from "./worker-call.js";
import type { WorkerMeter, AppLife } from "./worker-meter.js";

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
  readonly pace: BandwidthScheduler;
  readonly stallTimeoutMs: number;
  readonly limits: { readonly maxBodySizeBytes: number; readonly workerMemoryMaxBytes: number };
  readonly writeHead: (visit: Visit) => string | undefined;
  /** Routes a call again after this version was replaced. */
  readonly reroute: (call: WorkerCall) => void;
  readonly observer: IsolateObserver | undefined;
  readonly logs: WorkerLogs;
  readonly log: Log;
}

/** One version of a module worker: its isolates, and the calls that wait for them. */
export class ModuleVersion implements VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  readonly #options: ModuleWorkerOptions;
  readonly #log: Log;
  readonly #host: CallHost;
  /** Calls whose small body is still being received. */
  readonly #receiving = new Set<WorkerCall>();
  readonly #queue = new CallQueue();
  readonly #fleet: IsolateSet;
  readonly #sweep: DeadlineSweep;
  #isRetired = false;
  #onQuiet: (() => void) | undefined;

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
      pace: options.pace,
      onFailure: ({ requestId }, error) => this.#log.warn({ requestId, code: error.code, err: error.cause }, error.message),
    };
    const queue = this.#queue;
    const output = new WorkerOutput({ logs: options.logs, log: this.#log, name, version });
    const starter = new IsolateStarter(options);
    this.#fleet = new IsolateSet({
      version: options.version,
      observer: options.observer,
      starter,
      queue,
      output,
      onQuiet: () => this.#noteIdle(),
    });
    this.#sweep = new DeadlineSweep({
      receiving: this.#receiving,
      queue,
      fleet: this.#fleet,
      starter,
      timeoutMs: manifest.timeout,
      onSwept: () => this.#noteQuiet(),
    });
  }

  get life(): AppLife {
    const isolates = [...this.#fleet];
    const running = isolates.filter((isolate) => isolate.isServing).length;
    return {
      kind: "module",
      running,
      starting: this.#fleet.startingCount,
      draining: isolates.length - running,
      queued: this.#queue.wantedCount,
      openSockets: isolates.reduce((sum, { openSocketCount }) => sum + openSocketCount, 0),
      pids: isolates.flatMap(({ pid }) => pid ?? []),
    };
  }

  handle(visit: Visit): void {
    const head = this.#options.writeHead(visit);
    const call = new WorkerCall(visit, head ?? "", this.#host);
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
    await this.#fleet.retire(movedTo);
  }

  restart(): number {
    return this.#fleet.restart();
  }

  async drain(): Promise<void> {
    if (this.#isQuiet()) return;
    await new Promise<void>((resolve) => (this.#onQuiet = resolve));
  }

  readonly #onReceived = (call: WorkerCall): void => {
    this.#receiving.delete(call);
    this.#dispatch(call);
  };

  readonly #dispatch = (call: WorkerCall): void => {
    if (call.isDone) return;
    if (this.#isRetired) return this.#options.reroute(call);
    this.#sweep.wake();
    const isolate = this.#fleet.pick();
    if (isolate) return this.#fleet.run(isolate, call);
    const refusal = this.#fleet.refusal();
    if (refusal) return call.fail(refusal);
    this.#queue.push(call);
    this.#fleet.ensure();
  };

  #noteIdle(): void {
    this.#options.pool.noteIdle();
    this.#noteQuiet();
  }

  #noteQuiet(): void {
    if (this.#onQuiet && this.#isQuiet()) this.#onQuiet();
  }

  #isQuiet(): boolean {
    return this.#queue.length === 0 && this.#fleet.isIdle;
  }
}
