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
  /** Returns the enabled version for a worker name and a version range. The engine calls this function for each request. */
  readonly resolve: (name: string, range: string | undefined) => ServedVersion | undefined;
  /** Returns whether a worker is installed. With `version`, returns whether this version is installed. Includes disabled versions. */
  readonly isInstalled: (name: string, version: string | undefined) => boolean;
  /** Downloads the files of a version that is not on the disk yet. Throws PACKAGE_UNAVAILABLE; the first request after 1 s tries again. */
  readonly ensure?: (version: ServedVersion) => Promise<void>;
  readonly limits: Pick<
    Limits,
    "poolSize" | "maxBodySizeBytes" | "workerMemoryMaxBytes" | "sharedStreamRateBytes" | "workerDataMaxBytes" | "workerTemporaryMaxBytes"
  >;
  /**
   * Time limit in ms without a transferred byte for a call that waits for its client or for bandwidth. The call then fails. Default: 15
   * minutes.
   */
  readonly stallTimeoutMs?: number;
  /** System users for isolates, and directories for sandbox folders that these users can enter. */
  readonly ownUsers?: SandboxAllocatorOptions["ownUsers"];
  /** Permissions that the operator allows workers, from `RUNTIME_WORKER_PERMISSIONS`. */
  readonly permissions?: readonly string[];
  /** Addresses that workers are allowed to connect to. Default: all addresses. */
  readonly network?: NetworkCeilingOptions;
  /** True if isolates start only on a kernel that supports all isolation layers. */
  readonly isStrict?: boolean;
  /** Isolation layers of the kernel and their state. Default: the engine probes the kernel when it is created. */
  readonly kernelLayers?: Promise<KernelLayers>;
  /** Returns whether the daemon is stopping. */
  readonly isStopping?: () => boolean;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders?: readonly string[];
  /** Returns whether a bearer token is an API key of this daemon. The engine removes such a token from requests. */
  readonly isOurKey: (token: string) => boolean;
  /** Directory that contains the data folders of workers. */
  readonly dataDirectory: string;
  /** Directory that contains the compressed copies of static files. */
  readonly compressedFilesDirectory: string;
  /** Notified when an isolate has loaded its worker, when its process has exited, and when a worker has failed. */
  readonly observer?: IsolateObserver;
  /**
   * Returns the environment variables of a version with its secrets. Called at each start of an isolate. Throws WORKER_START_FAILED if a
   * variable is missing. Default: `env` of the manifest.
   */
  readonly environmentOf?: EnvironmentOf;
  /** Receives the output of workers. */
  readonly logs: WorkerLogs;
  readonly log: Log;
}
