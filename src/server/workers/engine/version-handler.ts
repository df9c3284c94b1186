import type { RequestLog } from "../logs/request-log.js";
import type { WorkerExchange } from "./worker-exchange.js";
import type { WorkerCall } from "./worker-call.js";
import type { WorkerMeter, VersionLoad } from "./worker-meter.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** Serves one version of a worker: a static site, or a module in isolates. */
export interface VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  /** Numbers of current isolates, queued requests and open WebSockets of the version. */
  readonly currentLoad: VersionLoad;
  /** The processes of the version. */
  readonly isolates: readonly IsolateReading[];
  handle(exchange: WorkerExchange): void;
  /** Runs a call that an earlier version received before this version replaced the earlier version. */
  takeOver(call: WorkerCall): void;
  /** Accepts no new requests. Running isolates read their files from `movedTo`. Resolves when no isolate of the version runs. */
  retire(movedTo: string | undefined): Promise<void>;
  /** Serves new requests with new isolates and drains the old isolates. Returns the number of old isolates. */
  restart(): number;
  /** Drains the isolate with the process id. Does nothing if no isolate of the version has this process id. */
  stopIsolate(pid: number): void;
  /** Accepts no new requests. Resolves when all accepted requests are complete. */
  drain(): Promise<void>;
}

/** One isolate at one time. */
export interface IsolateReading {
  readonly pid: number;
  readonly state: "starting" | "running" | "draining";
  /** Unix time in seconds when the isolate loaded the worker, or began to load it. */
  readonly startedAt: number;
  /** Number of requests since the start, including those in flight. */
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

/** The fields of an installed worker version that src/server/workers uses. src/server/packages defines the complete type. */
export interface ServedVersion {
  readonly name: string;
  readonly version: string;
  /** Absolute path of the package folder. */
  readonly folder: string;
  /** A value that changes whenever the content of the package folder changes. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** The reason why the version cannot be served, as a text for clients. */
  readonly problem?: string;
}
