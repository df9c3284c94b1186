import type { Deployment } from "../../shared/deployment.js";
import type { PluginManifest } from "../../shared/plugin-manifest.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

/** A plugin as it lies on the disk: what the catalog finds and what `plugins` loads. */
export interface InstalledPlugin {
  /** `plugin` or `@team/plugin`. */
  readonly name: string;
  /** Strict semver or `latest`. */
  readonly version: string;
  /** Absolute path; where its code is. */
  readonly folder: string;
  /** The folder that `GET /plugins` shows: another one where a manifest was laid over a built-in plugin. */
  readonly path: string;
  /** Where its code comes from. */
  readonly source: "built-in" | "uploaded";
  /** Whether there is something to delete: the uploaded plugin, or the manifest that overrides a built-in one. */
  readonly removable: boolean;
  readonly enabled: boolean;
  readonly manifest: PluginManifest;
  /** How its app is served; undefined when it has none. */
  readonly app: WorkerManifest | undefined;
  /** What its factory and `ctx.config` get. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Changes whenever the manifest that is in force does, `enabled` aside. */
  readonly manifestHash: string;
  /** Where what is uploaded of it comes from, if it says so. */
  readonly deployment?: Deployment;
  /** Why it cannot be loaded: its manifest cannot be used. */
  readonly problem?: string;
}
