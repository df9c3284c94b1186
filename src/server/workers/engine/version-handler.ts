import type { RequestLog } from "../logs/request-log.js";
import type { WorkerExchange } from "./worker-exchange.js";
import type { WorkerCall } from "./worker-call.js";
import type { WorkerMeter, VersionLoad } from "./worker-meter.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** Serves one version of a worker: a static site, or a module in isolates. */
export interface VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  /** Numbers of the isolates, the queued requests and the open WebSockets of the version. */
  readonly currentLoad: VersionLoad;
  /** The isolates of the version. */
  readonly isolates: readonly IsolateReading[];
  handle(exchange: WorkerExchange): void;
  /** Runs a call that a replaced version has received but not run. */
  takeOver(call: WorkerCall): void;
  /** Accepts no new requests. Running isolates read files from `movedTo`, if defined. Resolves when no isolate of the version runs. */
  retire(movedTo: string | undefined): Promise<void>;
  /** Serves new requests with new isolates and drains the old isolates. Returns the number of old isolates. */
  restart(): number;
  /** Drains the isolate with this process id. Does nothing if the version has no such isolate. */
  stopIsolate(pid: number): void;
  /** Accepts no new requests. Resolves when all accepted requests are complete. */
  drain(): Promise<void>;
}

/** The state of one isolate at one time. */
export interface IsolateReading {
  readonly pid: number;
  readonly state: "starting" | "running" | "draining";
  /** Unix time in seconds at which the isolate loaded the worker. While the isolate loads the worker, the time at which the load began. */
  readonly startedAt: number;
  /** Number of requests since the start, including running requests. */
  readonly requests: number;
  readonly inFlight: number;
  /** Number of open WebSockets. */
  readonly sockets: number;
}

/** An isolate with the worker version that it runs. */
export interface WorkerIsolate extends IsolateReading {
  readonly worker: string;
  readonly version: string;
}

/** The fields of an installed worker version that the code in src/server/workers uses. src/server/packages defines the whole type. */
export interface ServedVersion {
  readonly name: string;
  readonly version: string;
  /** Absolute path of the package folder. */
  readonly folder: string;
  /** A text that differs after each change of the package folder. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** The reason why the daemon cannot serve the version, as a text for clients. */
  readonly problem?: string;
}
