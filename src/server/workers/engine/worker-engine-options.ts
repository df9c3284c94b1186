import type { Limits } from "../../config/config.js";
import type { Log } from "../../log/log.js";
import type { IsolateObserver } from "../isolates/isolate-set.js";
import type { QuartersOptions } from "../isolates/sandbox-allocator.js";
import type { WorkerLogs } from "../logs/worker-logs.js";
import type { NetworkCeilingOptions } from "../../config/worker-network.js";
import type { KernelLayers } from "../sandbox/sandbox-policy.js";
import type { ServedVersion } from "./version-handler.js";
import type { SlotDirectoryPaths } from "../isolates/sandbox-folder.js";

export type EnvironmentOf = (version: ServedVersion) => Readonly<Record<string, string>>;

export interface WorkerEngineOptions extends SlotDirectoryPaths {
  /** Returns the enabled version for a name and a range. Called for every request. */
  readonly resolve: (name: string, range: string | undefined) => ServedVersion | undefined;
  /** Whether a worker, or the given version of it, is installed, enabled or not. */
  readonly isInstalled: (name: string, version: string | undefined) => boolean;
  readonly limits: Pick<
    Limits,
    "poolSize" | "maxBodySizeBytes" | "workerMemoryMaxBytes" | "sharedStreamRateBytes" | "workerDataMaxBytes" | "workerTemporaryMaxBytes"
  >;
  /** A call without progress of its request or response for this long fails, regardless of which side it waits for. Default: 15 minutes. */
  readonly stallTimeoutMs?: number;
  /** System users that isolates run as, and the slot folders that these users can enter, instead of the default folders. */
  readonly ownUsers?: QuartersOptions["ownUsers"];
  /** Values of `RUNTIME_WORKER_PERMISSIONS`. */
  readonly permissions?: readonly string[];
  /** Addresses that workers are allowed to connect to. Default: all. */
  readonly network?: NetworkCeilingOptions;
  /** True when an isolate must not start unless the kernel restricts it. */
  readonly isStrict?: boolean;
  /** Kernel features that restrict isolates. Default: probed at start. */
  readonly kernelLayers?: Promise<KernelLayers>;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders?: readonly string[];
  /** True for a bearer token that is an API key of this daemon: the engine hides such tokens from workers. */
  readonly isOurKey: (token: string) => boolean;
  /** Directory of the data folders of workers. */
  readonly dataDirectory: string;
  /** Directory of the compressed copies of static files. */
  readonly compressedFilesDirectory: string;
  /** Notified when an isolate starts and stops serving a worker. */
  readonly observer?: IsolateObserver;
  /**
   * Returns the variables of a version, secrets included. Called for each start of an isolate. Throws WORKER_START_FAILED when they are not
   * complete. Default: the manifest's `env`.
   */
  readonly environmentOf?: EnvironmentOf;
  /** Receives the output of workers. */
  readonly logs: WorkerLogs;
  readonly log: Log;
}
