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
  /** Value that changes with the plugin's code or manifest. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
}

/** A loaded and initialized plugin. */
export interface ActivePlugin {
  readonly name: string;
  /** Base path with a leading slash and without a trailing slash. Undefined for a plugin with hooks only. */
  readonly base: string | undefined;
  readonly installed: InstalledPlugin;
  /** Hooks that the plugin's module exports or its factory returned. */
  readonly hooks: Plugin;
  /** The compiled `server.routes`. */
  readonly routes: ServerRoutes | undefined;
  /** The plugin's worker. Undefined if the manifest has no `entrypoint`. */
  readonly app: PluginApp | undefined;
  /** Information that hooks receive about requests below the plugin's base path. */
  readonly info: AppInfo;
  readonly failures: HookFailures;
  /** Records and logs a failed hook of the plugin. Never throws. */
  readonly complain: (hook: string, error: unknown) => void;
}

/** A running plugin, with the data that decides whether a reload keeps the plugin. */
export interface RunningPlugin {
  readonly active: ActivePlugin;
  readonly codeHash: string | undefined;
  /** True when a factory created the plugin, so a second instance is possible. An exported object is the same instance at each load. */
  readonly isMade: boolean;
  /** Running dependencies of the plugin at its initialization, by name. */
  readonly dependencies: ReadonlyMap<string, RunningPlugin | undefined>;
  /** Value that the plugin's `provides()` returned. */
  readonly provided: unknown;
}
