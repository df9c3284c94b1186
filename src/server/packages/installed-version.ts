import type { Deployment } from "../../shared/deployment.js";
import type { Installation } from "../../shared/installation.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

export type PackageSource = "built-in" | "uploaded";

/** One version of a worker, as it lies on the disk. */
export interface InstalledVersion {
  /** `app` or `@team/app`. */
  readonly name: string;
  /** Strict semver or `latest`. */
  readonly version: string;
  /** Absolute path it is served from. */
  readonly folder: string;
  readonly source: PackageSource;
  readonly enabled: boolean;
  /** Changes whenever the folder's content was swapped, edited or toggled. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** Where it comes from, if it says so. */
  readonly deployment?: Deployment;
  /** Who installed it; undefined when it was not uploaded. */
  readonly installation?: Installation;
  /** Why it cannot be served: its manifest cannot be used. It is listed all the same. */
  readonly problem?: string;
}
