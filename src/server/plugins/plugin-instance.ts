import type { HookFailures } from "./hooks.js";
import type { AppInfo, Plugin } from "../../plugin/index.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { InstalledPlugin } from "../packages/plugin-catalog.js";
import type { ServerRoutes } from "./server-routes.js";

/** What the worker engine serves at a plugin's base. */
export interface PluginApp {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** Changes with its code and its manifest. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
}

/** A plugin that was initialised and takes part in serving. */
export interface ActivePlugin {
  readonly name: string;
  /** With a slash in front, without one behind; undefined = hooks only. */
  readonly base: string | undefined;
  readonly installed: InstalledPlugin;
  /** What its module or factory gave. */
  readonly hooks: Plugin;
  /** Its `server.routes`. */
  readonly routes: ServerRoutes | undefined;
  /** Its `entrypoint`. */
  readonly app: PluginApp | undefined;
  /** What hooks are told about requests below its base. */
  readonly info: AppInfo;
  readonly failures: HookFailures;
  /** Notes and logs that a hook failed; never throws. */
  readonly complain: (hook: string, error: unknown) => void;
}

/** A plugin at work and what is needed to tell whether it may stay. */
export interface RunningPlugin {
  readonly active: ActivePlugin;
  readonly codeHash: string | undefined;
  /** It was made by a factory, so there may be another one beside it; an object is one for good. */
  readonly isMade: boolean;
  /** The instances of its dependencies, as they were when it was initialised. */
  readonly dependencies: ReadonlyMap<string, RunningPlugin | undefined>;
  /** What its `provides()` gave. */
  readonly provided: unknown;
}
