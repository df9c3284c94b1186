import type { Limits } from "../../config/config.js";
import type { Log } from "../../log/log.js";
import type { IsolateObserver } from "../isolates/isolate-set.js";
import type { SandboxAllocatorOptions } from "../isolates/sandbox-allocator.js";
import type { WorkerLogs } from "../logs/worker-logs.js";
import type { NetworkCeilingOptions } from "../../config/worker-network.js";
import type { KernelLayers } from "../sandbox/sandbox-policy.js";
import type { ServedVersion } from "./version-handler.js";
import type { SlotDirectoryPaths } from "../isolates/sandbox-folder.js";

export type EnvironmentOf = (version: ServedVersion) => Readonly<Record<string, string>>;

export interface WorkerEngineOptions extends SlotDirectoryPaths {
  /** Returns the enabled version for a name and a version range. The engine calls this function for every request. */
  readonly resolve: (name: string, range: string | undefined) => ServedVersion | undefined;
  /** Returns whether a worker, or the given version of it, is installed. A disabled version counts as installed. */
  readonly isInstalled: (name: string, version: string | undefined) => boolean;
  readonly limits: Pick<
    Limits,
    "poolSize" | "maxBodySizeBytes" | "workerMemoryMaxBytes" | "sharedStreamRateBytes" | "workerDataMaxBytes" | "workerTemporaryMaxBytes"
  >;
  /** A call without progress for this long fails, whether it waits for the client or for the isolate. Default: 15 minutes. */
  readonly stallTimeoutMs?: number;
  /** System users for isolates, with slot folders that these users can enter. */
  readonly ownUsers?: SandboxAllocatorOptions["ownUsers"];
  /** Values of `RUNTIME_WORKER_PERMISSIONS`. */
  readonly permissions?: readonly string[];
  /** Addresses that workers are allowed to connect to. Default: all. */
  readonly network?: NetworkCeilingOptions;
  /** True when an isolate must not start unless the kernel restricts it. */
  readonly isStrict?: boolean;
  /** Kernel features that restrict isolates. Default: the daemon probes them at its start. */
  readonly kernelLayers?: Promise<KernelLayers>;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders?: readonly string[];
  /** Returns whether a bearer token is an API key of this daemon. The engine hides such tokens from workers. */
  readonly isOurKey: (token: string) => boolean;
  /** Directory of the data folders of workers. */
  readonly dataDirectory: string;
  /** Directory of the compressed copies of static files. */
  readonly compressedFilesDirectory: string;
  /** Receives a notification when an isolate starts and when it stops serving a worker. */
  readonly observer?: IsolateObserver;
  /**
   * Returns the variables of a version, including secrets, at each start of an isolate. Throws WORKER_START_FAILED when a variable is
   * missing. Default: the manifest's `env`.
   */
  readonly environmentOf?: EnvironmentOf;
  /** Receives the output of workers. */
  readonly logs: WorkerLogs;
  readonly log: Log;
}
