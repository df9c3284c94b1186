import type { RequestLog } from "../logs/request-log.js";
import type { Visit } from "./visit.js";
import type { WorkerCall } from "./worker-call.js";
import type { WorkerMeter, AppLife } from "./worker-meter.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** Serves one version of a worker: a static site, or a module in isolates. */
export interface VersionHandler {
  readonly meter: WorkerMeter;
  readonly requestLog: RequestLog;
  /** Current isolates, queued requests and open sockets of the version. */
  readonly life: AppLife;
  handle(visit: Visit): void;
  /** Runs a call that began at a version which has been replaced. */
  takeOver(call: WorkerCall): void;
  /** Accepts no new requests; running isolates read files from `movedTo`. Resolves when no isolate of the version runs. */
  retire(movedTo: string | undefined): Promise<void>;
  /** Serves new requests with new isolates and lets the old ones finish. Returns the number of old isolates. */
  restart(): number;
  /** Accepts no new requests; resolves when all accepted requests are complete. */
  drain(): Promise<void>;
}

/** A version of a worker with the fields that src/server/workers needs; src/server/packages defines the full type. */
export interface ServedVersion {
  readonly name: string;
  readonly version: string;
  /** Absolute path of the package folder. */
  readonly folder: string;
  /** Changes whenever the content of the folder changes. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** Why the version cannot be served; sent to the client. */
  readonly problem?: string;
}
