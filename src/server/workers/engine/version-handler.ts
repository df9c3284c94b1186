import type { Visit } from "./visit.js";
import type { WorkerCall } from "./worker-call.js";
import type { WorkerMeter, AppLife } from "./worker-meter.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** What answers for one version of a worker: a static site or a module in isolates. */
export interface VersionHandler {
  readonly meter: WorkerMeter;
  /** What runs of it at this moment. */
  readonly life: AppLife;
  handle(visit: Visit): void;
  /** Takes over a call that began at a version which is no longer current. */
  takeOver(call: WorkerCall): void;
  /** Serves nothing new; what still runs reads from `movedTo`. Resolves when nothing of it runs any more. */
  retire(movedTo: string | undefined): Promise<void>;
  /** Fresh isolates answer from now on, what runs finishes; answers with how many were let go. */
  restart(): number;
  /** Serves nothing new and resolves when all that was begun is answered. */
  drain(): Promise<void>;
}

/** A version of a worker as this room needs to know it; the packages room has more to say about it. */
export interface ServedVersion {
  readonly name: string;
  readonly version: string;
  /** Absolute path of the package folder. */
  readonly folder: string;
  /** Changes whenever the content of the folder does. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** Why it cannot be served, for the client. */
  readonly problem?: string;
}
