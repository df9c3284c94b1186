import type { Installation } from "../../shared/installation.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { CatalogedVersion } from "./worker-catalog.js";
import type { InstalledVersion } from "./worker-version.js";
import type { PackageTools } from "./package-tools.js";
import type { PeerChange } from "./transactions/change-log.js";
import type { Retiring } from "./transactions/install-areas.js";

/** The part of the secret store that the installation of workers uses. */
export interface SecretsPort {
  /**
   * Throws SECRET_MISSING if a secret that the manifest requires has no value. With `countsStaged`, values that take effect at the next
   * upload count too.
   */
  assertPresent(worker: string, manifest: WorkerManifest, options: { countsStaged: boolean }): void;
  /** Activates the staged secret values of a worker. Returns a function that reverts the activation. */
  applyStaged(worker: string): Promise<() => Promise<void>>;
}

export type VersionCheck = "load" | "request";

/** Options for the installation of an uploaded worker version. */
export interface WorkerInstallOptions {
  /** Called with the worker's name before the installation. Throws to reject the upload. */
  readonly authorise: (name: string) => void;
  /** Check before the installation. With `load`, the code is loaded once. With `request`, the version also serves one request. */
  readonly check?: VersionCheck | undefined;
  /** Record of the upload, which is stored with the version. */
  readonly installation?: Installation;
  /** True to reject an upload of an installed version with VERSION_EXISTS. */
  readonly isNewOnly?: boolean;
  /** True if the same change also disables the version `latest` of the worker. */
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
  /** Another version of the worker, which the same change disables. */
  readonly disabled: CatalogedVersion | undefined;
}

export interface WorkerPackagesOptions extends Retiring {
  /**
   * Worker directories in order of precedence. A directory whose name starts with a dot is part of the container image and is never
   * changed.
   */
  readonly directories: readonly string[];
  /** Directory of the built-in workers, which has the highest precedence and is never changed. */
  readonly builtInDirectory: string | undefined;
  /** Names that an uploaded worker must not have. */
  readonly reservedNames: ReadonlySet<string>;
  /** Unpacker, remover and path locks, shared with the plugins. The creator of the tools closes them after this object. */
  readonly tools: PackageTools;
  /** Path of the file that caches the worker catalog for the next start. Undefined disables the cache. */
  readonly knownFoldersFile?: string;
  /**
   * Returns the reason why this daemon would not serve a worker with this manifest. Undefined if the daemon would serve it. An upload with a reason is
   * rejected.
   */
  readonly refusal?: (manifest: WorkerManifest, name: string) => string | undefined;
  /** Returns whether a plugin has this base path, such as `/app`. Requests would then not reach a worker with the name `app`. */
  readonly isPluginBase?: (base: string) => boolean;
  /** Checks the unpacked worker before the installation. If the check throws, no installed worker has changed. */
  readonly check?: (
    candidate: Pick<InstalledVersion, "name" | "version" | "folder" | "generation" | "manifest">,
    kind: VersionCheck,
  ) => Promise<void>;
  /** Secret store that checks the `secrets` field of manifests. Undefined disables the check. */
  readonly secrets?: SecretsPort;
  /** Called when the active version of a worker can have changed. `version` is undefined if no version is active. */
  readonly onActiveVersion?: (name: string, version: InstalledVersion | undefined) => void;
  /** Called after another daemon changed a worker directory. `resolve` already includes the change. */
  readonly onElsewhere?: (change: PeerChange) => void;
}
