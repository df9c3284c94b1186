import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { InstalledVersion } from "./worker-version.js";
import type { PackageTools } from "./package-tools.js";
import type { PeerChange } from "./transactions/change-log.js";
import type { Retiring } from "./transactions/install-areas.js";

/** The secrets of workers, as installation needs them. */
export interface SecretsPort {
  /** Throws SECRET_MISSING. `countsStaged`: values that take effect with the next upload count too. */
  assertPresent(worker: string, manifest: WorkerManifest, options: { countsStaged: boolean }): void;
  /** Puts staged values into effect, and returns what reverts this. */
  applyStaged(worker: string): Promise<() => Promise<void>>;
}

export interface WorkerPackagesOptions extends Retiring {
  /** In order: where a version is in two of them, the first counts. Those whose name starts with a dot are part of the image. */
  readonly directories: readonly string[];
  /** Scanned before all others, never changed. */
  readonly builtInDirectory: string | undefined;
  /** Names that uploads cannot take. */
  readonly reservedNames: ReadonlySet<string>;
  /** Shared with other kinds of packages; closed by whoever made them, after this. */
  readonly tools: PackageTools;
  /** Where what was read is kept for the next start. */
  readonly knownFoldersFile?: string;
  /** Why a worker with this manifest would not be served here; such an upload is refused. */
  readonly refusal?: (manifest: WorkerManifest, name: string) => string | undefined;
  /** Whether a plugin has this base, such as `/app`; a worker of that name would not be reached. */
  readonly isPluginBase?: (base: string) => boolean;
  /** Called with what was unpacked, before anything shows; when it throws, nothing has changed. */
  readonly check?: (candidate: Pick<InstalledVersion, "name" | "version" | "folder" | "generation" | "manifest">) => Promise<void>;
  /** Secrets of workers; without it, no manifest's `secrets` are checked. */
  readonly secrets?: SecretsPort;
  /** The version that answers for a name may be another one now; undefined = none does. */
  readonly onActiveVersion?: (name: string, version: InstalledVersion | undefined) => void;
  /** Another instance that has the same directory has changed something; what `resolve` gives is new already. */
  readonly onElsewhere?: (change: PeerChange) => void;
}
