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
  /** Changes when the code or the manifest changes. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
}

/** A loaded and initialized plugin. */
export interface ActivePlugin {
  readonly name: string;
  /** Base path with a leading and without a trailing slash; undefined for a plugin with hooks only. */
  readonly base: string | undefined;
  readonly installed: InstalledPlugin;
  /** The hooks that its module or factory returned. */
  readonly hooks: Plugin;
  /** The compiled `server.routes`. */
  readonly routes: ServerRoutes | undefined;
  /** The worker of its `entrypoint`. */
  readonly app: PluginApp | undefined;
  /** Information that hooks get about requests below its base. */
  readonly info: AppInfo;
  readonly failures: HookFailures;
  /** Records and logs a failed hook; never throws. */
  readonly complain: (hook: string, error: unknown) => void;
}

/** A running plugin with the data to decide whether a reload can keep it. */
export interface RunningPlugin {
  readonly active: ActivePlugin;
  readonly codeHash: string | undefined;
  /** True when a factory created the plugin, so a second instance is possible. An exported object is the same instance at each load. */
  readonly isMade: boolean;
  /** The instances of its dependencies at its initialization. */
  readonly dependencies: ReadonlyMap<string, RunningPlugin | undefined>;
  /** The value of its `provides()`. */
  readonly provided: unknown;
}
