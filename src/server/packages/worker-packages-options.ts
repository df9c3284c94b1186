import type { WorkerManifest } from "../../shared/worker-manifest.js";
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
  readonly check?: (candidate: Pick<InstalledVersion, "name" | "version" | "folder" | "generation" | "manifest">) => Promise<void>;
  /** Checks the `secrets` of manifests. Undefined disables the check. */
  readonly secrets?: SecretsPort;
  /** Called when the active version of a name can have changed; undefined: no version is active. */
  readonly onActiveVersion?: (name: string, version: InstalledVersion | undefined) => void;
  /** Called after another instance changed the directory; `resolve` includes the change. */
  readonly onElsewhere?: (change: PeerChange) => void;
}
