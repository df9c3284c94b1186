import type { WorkerManifest } from "../../../shared/worker-manifest.js";

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
