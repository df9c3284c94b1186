import type { PluginStore } from "./package-store.js";
import type { PackageTools } from "./package-tools.js";
import type { InstalledPlugin, PluginRules, StagedPlugin } from "./plugin-catalog.js";
import type { RetireOptions } from "./transactions/install-areas.js";

export interface PluginPackagesOptions extends PluginRules, RetireOptions {
  /** Plugin directories in order of precedence. A directory with a leading dot in its name is a read-only part of the container image. */
  readonly directories: readonly string[];
  /** Directory of the built-in plugins. It has the highest precedence, and the daemon never changes it. */
  readonly builtInDirectory: string;
  /** Returns whether a worker with this name is installed. */
  readonly isWorker?: (name: string) => boolean;
  /** Returns the reason why a built-in plugin rejects its settings. Returns undefined if the plugin accepts them. */
  readonly settingsProblem?: (plugin: Pick<InstalledPlugin, "name" | "folder" | "manifest" | "config">) => Promise<string | undefined>;
  /** The plugins that several daemons share. Undefined if the folders are the only record. */
  readonly store?: PluginStore | undefined;
  /** Unpacker, remover and locks of paths, shared with `WorkerPackages`. The creator of these objects closes them. */
  readonly tools: PackageTools;
}

/** Loads the code of an upload. Then calls `place`, which moves the upload to its target folder. */
export type ActivateUpload = (upload: StagedPlugin, place: () => Promise<void>) => Promise<void>;

export interface PlacedPlugin {
  readonly name: string;
  readonly version: string;
  readonly installedAt: string;
}
