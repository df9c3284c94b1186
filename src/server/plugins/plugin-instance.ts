import type { HookFailures } from "./hooks.js";
import type { AppInfo, Plugin } from "../../plugin/index.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { InstalledPlugin } from "../packages/plugin-catalog.js";
import type { ServerRoutes } from "./server-routes.js";

/** The worker of a plugin, served at the plugin's base. */
export interface PluginApp {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** A text that differs after a change of the plugin's code or manifest. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
}

/** A loaded and initialized plugin. */
export interface ActivePlugin {
  readonly name: string;
  /** Base path with a slash at the beginning and none at the end. Undefined for a plugin that only has hooks. */
  readonly base: string | undefined;
  readonly installed: InstalledPlugin;
  /** Hooks that the plugin's module exports or its factory returned. */
  readonly hooks: Plugin;
  /** The routes in `server.routes` of the plugin, prepared for matching. */
  readonly routes: ServerRoutes | undefined;
  /** The plugin's worker. Undefined if the manifest has no `entrypoint`. */
  readonly app: PluginApp | undefined;
  /** Information that hooks receive about requests below the plugin's base path. */
  readonly info: AppInfo;
  readonly failures: HookFailures;
  /** Records and logs a failed hook of the plugin. Never throws. */
  readonly complain: (hook: string, error: unknown) => void;
}

/** A running plugin with the data by which a reload decides whether it keeps the plugin. */
export interface RunningPlugin {
  readonly active: ActivePlugin;
  readonly codeHash: string | undefined;
  /**
   * True if a factory function created the plugin. The daemon can then create a second instance. A plugin without a factory function is the
   * same object at each load.
   */
  readonly isMade: boolean;
  /** The dependencies that were running when the plugin was initialized, by name. */
  readonly dependencies: ReadonlyMap<string, RunningPlugin | undefined>;
  /** Value that the plugin's `provides()` returned. */
  readonly provided: unknown;
}
