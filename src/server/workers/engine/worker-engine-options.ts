import type { Limits } from "../../config/config.js";
import type { Log } from "../../log/log.js";
import type { IsolateObserver } from "../isolates/isolate-set.js";
import type { QuartersOptions } from "../isolates/sandbox-allocator.js";
import type { WorkerLogs } from "../logs/worker-logs.js";
import type { NetworkCeilingOptions } from "../../config/worker-network.js";
import type { KernelLayers } from "../sandbox/sandbox-policy.js";
import type { ServedVersion } from "./version-handler.js";
import type { SlotDirectoryPaths } from "../isolates/sandbox-folder.js";

export interface WorkerEngineOptions extends SlotDirectoryPaths {
  /** The enabled version that answers for a name and a range; on the path of every request. */
  readonly resolve: (name: string, range: string | undefined) => ServedVersion | undefined;
  /** Whether a worker, or a certain version of it, is there at all, enabled or not. */
  readonly isInstalled: (name: string, version: string | undefined) => boolean;
  readonly limits: Pick<Limits, "poolSize" | "maxBodySizeBytes" | "workerMemoryMaxBytes" | "sharedStreamRateBytes">;
  /** After so long without a byte of its request or response a call ends, regardless of whom it waits for (15 minutes). */
  readonly stallTimeoutMs?: number;
  /** Users that isolates run as, and folders that these can go into in place of those for slots of isolates without. */
  readonly ownUsers?: QuartersOptions["ownUsers"];
  /** As `RUNTIME_WORKER_PERMISSIONS` lists it. */
  readonly permissions?: readonly string[];
  /** What workers may connect to; everything when it is not given. */
  readonly network?: NetworkCeilingOptions;
  /** An isolate that the kernel does not restrict must not start. */
  readonly isStrict?: boolean;
  /** What the kernel offers to restrict isolates; found out when it is not given. */
  readonly kernelLayers?: Promise<KernelLayers>;
  /** Folders of the daemon that no program of a worker may read. */
  readonly closedFolders?: readonly string[];
  /** True for a bearer token that is a key of ours: apps never see one. */
  readonly isOurKey: (token: string) => boolean;
  /** Where compressed copies of static files are kept. */
  readonly compressedFilesDirectory: string;
  /** Hears of every isolate that begins or ends to serve an app. */
  readonly observer?: IsolateObserver;
  /** Where the apps' output goes. */
  readonly logs: WorkerLogs;
  readonly log: Log;
}
