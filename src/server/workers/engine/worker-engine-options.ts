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
  /** Returns whether a worker is installed, or `version` of the worker if defined. A disabled version counts as installed. */
  readonly isInstalled: (name: string, version: string | undefined) => boolean;
  readonly limits: Pick<
    Limits,
    "poolSize" | "maxBodySizeBytes" | "workerMemoryMaxBytes" | "sharedStreamRateBytes" | "workerDataMaxBytes" | "workerTemporaryMaxBytes"
  >;
  /** A call that waits for its client or for bandwidth fails after this time without a transferred byte. Default: 15 minutes. */
  readonly stallTimeoutMs?: number;
  /** System users for isolates, and directories for sandbox folders that these users can enter. */
  readonly ownUsers?: SandboxAllocatorOptions["ownUsers"];
  /** Permissions that the operator allows workers, from `RUNTIME_WORKER_PERMISSIONS`. */
  readonly permissions?: readonly string[];
  /** Addresses that workers are allowed to connect to. Default: all addresses. */
  readonly network?: NetworkCeilingOptions;
  /** True if an isolate is allowed to start only when the kernel supports all isolation layers. */
  readonly isStrict?: boolean;
  /** Isolation layers of the kernel, and whether each layer is active. Default: the result of a probe when the engine is created. */
  readonly kernelLayers?: Promise<KernelLayers>;
  /** Returns whether the daemon is stopping. */
  readonly isStopping?: () => boolean;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders?: readonly string[];
  /** Returns whether a bearer token is an API key of this daemon. The engine hides such tokens from workers. */
  readonly isOurKey: (token: string) => boolean;
  /** Directory that contains the data folders of workers. */
  readonly dataDirectory: string;
  /** Directory that contains the compressed copies of static files. */
  readonly compressedFilesDirectory: string;
  /** Is notified when an isolate has loaded its worker, when its process has exited, and for each failure of a worker. */
  readonly observer?: IsolateObserver;
  /**
   * Returns the environment variables of a version, including secrets, at each start of an isolate. Throws WORKER_START_FAILED when a
   * variable is missing. Default: the manifest's `env`.
   */
  readonly environmentOf?: EnvironmentOf;
  /** Receives the output of workers. */
  readonly logs: WorkerLogs;
  readonly log: Log;
}
