import type { FileChange } from "./files/mounts.js";
import type { PackageFolder } from "./files/package-folder.js";
import type { Installation } from "../../shared/installation.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { StagingArea } from "./transactions/staging-area.js";
import type { CatalogedVersion, WorkerCatalog } from "./worker-catalog.js";
import type { InstalledVersion } from "./worker-version.js";
import type { Log } from "../log/log.js";
import type { KeyedLock } from "../platform/keyed-lock.js";
import type { PackageStore, StoredChange } from "./package-store.js";
import type { PackageTools } from "./package-tools.js";
import type { RetireOptions } from "./transactions/install-areas.js";

/** The functions of the secret store that the installation of workers uses. */
export interface SecretsPort {
  /**
   * Throws SECRET_MISSING if a secret that the manifest requires has no value. If `countsStaged` is true, a value that takes effect at the
   * next upload is enough.
   */
  assertPresent(worker: string, manifest: WorkerManifest, options: { countsStaged: boolean }): void;
  /** Makes the staged secret values of a worker effective. Returns a function that reverts this. */
  applyStaged(worker: string): Promise<() => Promise<void>>;
}

export type VersionCheck = "load" | "request";

/** Options for the installation of an uploaded worker version. */
export interface WorkerInstallOptions {
  /** Called with the name of the worker before the installation. The function throws to reject the upload. */
  readonly authorise: (name: string) => void;
  /** Check before the installation. `load` loads the code once. `request` also sends one request to the version. */
  readonly check?: VersionCheck | undefined;
  /** Record of the upload. The daemon stores the record with the version. */
  readonly installation?: Installation;
  /** If true, an upload of a version that is already installed fails with VERSION_EXISTS. */
  readonly isNewOnly?: boolean;
  /** If true, the installation also disables the version `latest` of the worker. */
  readonly disablesLatest?: boolean;
}

/** An unpacked worker version that is ready to be installed. */
export interface StagedVersion {
  readonly name: string;
  readonly version: string;
  readonly manifest: WorkerManifest;
  /** Folder with the unpacked files. */
  readonly from: string;
  readonly installedAt: string;
  /** Another version of the worker that the installation disables. */
  readonly disabled: CatalogedVersion | undefined;
  /** Makes the version visible in the package store. */
  readonly publish: () => Promise<void>;
}

/** Objects of `WorkerPackages` with which a package store changes the folders of workers. */
export interface StoredWorkersOptions {
  readonly catalog: WorkerCatalog;
  /** The area in which the daemon installs versions of the index. */
  readonly area: StagingArea;
  readonly locks: KeyedLock;
  readonly tools: PackageTools;
  readonly retiring: RetireOptions;
  /** Called after a change of another daemon, when `resolve` of the packages includes the change. */
  readonly onElsewhere: (change: StoredChange) => void;
  readonly log: Log;
}

/** Makes the folders of workers follow the index of a package store. */
export interface StoredWorkers {
  /** Adds the versions of the index to the catalog, and begins to follow the index. */
  start(): void;
  /** Resolves when the catalog contains the changes that the index contains now. */
  settled(): Promise<void>;
  /** Downloads a version of the index unless its folder exists. Throws PACKAGE_UNAVAILABLE. */
  ensure(version: Pick<InstalledVersion, "name" | "version" | "folder">): Promise<void>;
  /**
   * Applies a change of files to a copy of the only version in `packageFolders`, and publishes the copy. Changes nothing and returns
   * "local" for versions outside the index, and "removed" for a change that deletes the whole version.
   */
  changeFiles(packageFolders: readonly PackageFolder[], change: FileChange): Promise<"changed" | "removed" | "local">;
  close(): Promise<void>;
}

export interface WorkerPackagesOptions extends RetireOptions {
  /**
   * Worker directories in order of precedence. If the name of a directory begins with a dot, the directory is part of the container image,
   * and the daemon never changes it.
   */
  readonly directories: readonly string[];
  /** Directory of the built-in workers. It has the highest precedence, and the daemon never changes it. */
  readonly builtInDirectory: string | undefined;
  /** Names that an uploaded worker must not have. */
  readonly reservedNames: ReadonlySet<string>;
  /**
   * Unpacker, remover and locks of paths. `PluginPackages` uses the same objects. The creator of these objects closes them after closing
   * `WorkerPackages` and `PluginPackages`.
   */
  readonly tools: PackageTools;
  readonly store: PackageStore;
  /** Creates the object that follows the index of `store`. Undefined for a store without an index. */
  readonly createStored?: ((options: StoredWorkersOptions) => StoredWorkers) | undefined;
  /**
   * Path of the file in which the daemon caches the worker catalog for the next start. If undefined, the daemon does not write this file.
   */
  readonly knownFoldersFile?: string;
  /**
   * Returns the reason why this daemon would reject a worker with this manifest. The daemon then also rejects the upload. Returns undefined
   * if the daemon would serve the worker.
   */
  readonly refusal?: (manifest: WorkerManifest, name: string) => string | undefined;
  /**
   * Returns whether a plugin has this base path, such as `/app`. Requests would then reach the plugin instead of a worker with the name
   * `app`.
   */
  readonly isPluginBase?: (base: string) => boolean;
  /** Checks an unpacked worker before the installation. If this function throws, no installed worker has changed. */
  readonly check?: (
    candidate: Pick<InstalledVersion, "name" | "version" | "folder" | "generation" | "manifest">,
    kind: VersionCheck,
  ) => Promise<void>;
  /** Secret store, which checks the field `secrets` of manifests. If undefined, the daemon does not check this field. */
  readonly secrets?: SecretsPort;
  /** Called when the active version of a worker has possibly changed. `version` is undefined if the worker has no active version. */
  readonly onActiveVersion?: (name: string, version: InstalledVersion | undefined) => void;
  /** Called after another daemon has changed the package store. At this time, `resolve` already includes the change. */
  readonly onElsewhere?: (change: StoredChange) => void;
}
