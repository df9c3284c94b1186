import type { Installation } from "../../shared/installation.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { CatalogedVersion } from "./worker-catalog.js";
import type { InstalledVersion } from "./worker-version.js";
import type { PackageTools } from "./package-tools.js";
import type { PeerChange } from "./transactions/change-log.js";
import type { Retiring } from "./transactions/install-areas.js";

/** The secrets of workers, as used by installation. */
export interface SecretsPort {
  /** Throws SECRET_MISSING. `countsStaged`: includes values that take effect with the next upload. */
  assertPresent(worker: string, manifest: WorkerManifest, options: { countsStaged: boolean }): void;
  /** Activates staged values. Returns a function that reverts this. */
  applyStaged(worker: string): Promise<() => Promise<void>>;
}

export type VersionCheck = "load" | "request";

/** How a version is installed. */
export interface WorkerInstallOptions {
  /** Called with the name before anything is visible. Throws to reject the upload. */
  readonly authorise: (name: string) => void;
  /** `load`: the code is loaded once before the version is installed. `request`: the version also serves one request. */
  readonly check?: VersionCheck | undefined;
  /** Stored with the version. */
  readonly installation?: Installation;
  /** Rejects an upload of an installed version with VERSION_EXISTS. */
  readonly isNewOnly?: boolean;
  /** Disables the version `latest` of the worker by the same change. */
  readonly disablesLatest?: boolean;
}

/** An unpacked version, ready to be installed. */
export interface StagedVersion {
  readonly name: string;
  readonly version: string;
  readonly manifest: WorkerManifest;
  /** The folder with the files. */
  readonly from: string;
  readonly installedAt: string;
  /** Another version that the same change disables. */
  readonly disabled: CatalogedVersion | undefined;
}

export interface WorkerPackagesOptions extends Retiring {
  /** In order of precedence. A name with a leading dot marks a part of the container image. */
  readonly directories: readonly string[];
  /** Has the highest precedence and is never changed. */
  readonly builtInDirectory: string | undefined;
  /** Reserved names. */
  readonly reservedNames: ReadonlySet<string>;
  /** Shared by all kinds of packages. The creator closes it after this object. */
  readonly tools: PackageTools;
  /** Cache of the catalog for the next start. */
  readonly knownFoldersFile?: string;
  /** Returns why this daemon would not serve a worker with this manifest; the upload is rejected then. */
  readonly refusal?: (manifest: WorkerManifest, name: string) => string | undefined;
  /** Whether a plugin has this base, such as `/app`. Requests would not reach a worker with that name. */
  readonly isPluginBase?: (base: string) => boolean;
  /** Called with the unpacked code before anything is visible. When it throws, nothing has changed. */
  readonly check?: (
    candidate: Pick<InstalledVersion, "name" | "version" | "folder" | "generation" | "manifest">,
    kind: VersionCheck,
  ) => Promise<void>;
  /** Checks the `secrets` of manifests. Undefined disables the check. */
  readonly secrets?: SecretsPort;
  /** Called when the active version of a name can have changed; undefined: no version is active. */
  readonly onActiveVersion?: (name: string, version: InstalledVersion | undefined) => void;
  /** Called after another instance changed the directory; `resolve` includes the change. */
  readonly onElsewhere?: (change: PeerChange) => void;
}
