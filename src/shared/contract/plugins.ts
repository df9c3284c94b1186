import * as z from "zod";
import { Deployment } from "../deployment.js";
import { isPackageName } from "../package-name.js";
import { archiveErrors, indexErrors, storeErrors } from "./archive-errors.js";
import { endpoint } from "./endpoint.js";
import { Notified } from "./instances.js";
import { Timestamp } from "./principal.js";
import { Success, successOf } from "./success.js";
import { LastError } from "./worker-health.js";

/** Results of loading an installed plugin. */
const pluginStatuses = ["loaded", "disabled", "failed", "waiting"] as const;
export type PluginStatus = (typeof pluginStatuses)[number];

/** Health states of a plugin, the most severe first. */
export const pluginStates = ["failing", "degraded", "ok", "disabled"] as const;
export type PluginState = (typeof pluginStates)[number];

export const PluginHealth = z.object({
  state: z
    .enum(pluginStates)
    .describe("failing: it failed to load; degraded: a hook failed in the last 10 minutes, or a change waits for a reload"),
  since: Timestamp.describe("Unix time in seconds at which this state began"),
  isSinceStart: z
    .boolean()
    .optional()
    .describe("True if the state began earlier, at an unknown time; `since` is then a start of the daemon"),
  reason: z.string().optional().describe("One sentence about the cause; for failing and degraded"),
  lastError: z.optional(LastError),
});
export type PluginHealth = z.output<typeof PluginHealth>;

export const Plugin = z.object({
  name: z.string(),
  path: z.string().describe("Folder of the plugin on the server"),
  removable: z
    .boolean()
    .describe("True for an uploaded plugin, and for a built-in plugin with an uploaded override manifest, which a deletion removes"),
  source: z.enum(["built-in", "uploaded"]),
  local: z
    .boolean()
    .optional()
    .describe("With an OCI registry: true if only this daemon has the uploaded part, because it was copied by hand or the index lost it"),
  version: z.string(),
  enabled: z.boolean(),
  status: z.enum(pluginStatuses).describe("waiting: changed on disk; a reload loads the change"),
  error: z.string().optional().describe("The load error; for a loaded plugin, the hooks that failed in the last 10 minutes"),
  health: PluginHealth,
  deploy: z.optional(Deployment).describe("The deployment record, if deployed with runtimectl"),
});
export type Plugin = z.output<typeof Plugin>;

const PluginMenu = z.object({ title: z.string(), icon: z.string(), path: z.string() });

export const LoadedPlugin = z.object({
  name: z.string(),
  base: z.string().describe("Base path; empty for a plugin with only hooks"),
  dependencies: z.array(z.string()),
  optionalDependencies: z.array(z.string()),
  menus: z.array(PluginMenu),
});
export type LoadedPlugin = z.output<typeof LoadedPlugin>;

const ReloadedPlugin = z.object({ name: z.string(), version: z.string(), loaded: z.boolean(), error: z.string().optional() });
export type ReloadedPlugin = z.output<typeof ReloadedPlugin>;

/** The path parameter `:name` is one path segment. A client percent-encodes the slash in the name of a scoped plugin. */
const PluginParams = z.object({ name: z.string().refine(isPackageName, "not a package name") });
const nameErrors = { name: "INVALID_PACKAGE_NAME" } as const;
const ToggledPlugin = successOf(z.object({ name: z.string(), enabled: z.boolean() }));

export const list = endpoint({
  method: "GET",
  path: "/plugins",
  summary: "List the installed plugins that the key can see",
  access: "plugins:read",
  status: 200,
  result: z.array(Plugin),
});

export const loaded = endpoint({
  method: "GET",
  path: "/plugins/loaded",
  summary: "List the loaded plugins in the order of their hooks",
  access: "plugins:read",
  status: 200,
  result: z.array(LoadedPlugin),
});

export const upload = endpoint({
  method: "POST",
  path: "/plugins/upload",
  summary: "Install a plugin from an archive, replacing an installed version",
  change: "plugin.installed",
  access: "plugins:install",
  changesPlugin: true,
  upload: "file",
  status: 201,
  result: successOf(
    z.object({ plugin: z.object({ name: z.string(), version: z.string(), installedAt: z.string().describe("Folder on the server") }) }),
  ),
  errors: [
    "NO_PLUGIN_DIRS",
    ...archiveErrors,
    "BASE_TAKEN",
    "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
    "PLUGIN_LOAD_FAILED",
    "NOT_READY",
    ...storeErrors,
  ],
});

export const reload = endpoint({
  method: "POST",
  path: "/plugins/reload",
  summary: "Reload all plugins from the plugin directories, on all daemons",
  change: "plugin.reloaded",
  access: "plugins:install",
  status: 200,
  result: successOf(
    z.object({
      plugins: z.array(ReloadedPlugin),
      instances: Notified.optional().describe("The other daemons; absent without a primary"),
    }),
  ),
});

export const enable = endpoint({
  method: "POST",
  path: "/plugins/:name/enable",
  summary: "Enable a plugin",
  change: "plugin.enabled",
  access: "plugins:install",
  namespaced: true,
  params: PluginParams,
  inputErrors: nameErrors,
  status: 200,
  result: ToggledPlugin,
  errors: [
    "PLUGIN_NOT_FOUND",
    "PLUGIN_MANIFEST_NOT_FOUND",
    "INVALID_PACKAGE_METADATA",
    "NO_PLUGIN_DIRS",
    "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
    "PRECONDITION_FAILED",
    "STORAGE_NOT_WRITABLE",
    "INSUFFICIENT_STORAGE",
    ...storeErrors,
  ],
});

export const disable = endpoint({
  ...enable,
  path: "/plugins/:name/disable",
  summary: "Disable a plugin without deleting it",
  change: "plugin.disabled",
});

export const remove = endpoint({
  method: "DELETE",
  path: "/plugins/:name",
  summary: "Delete a plugin",
  change: "plugin.deleted",
  access: "plugins:remove",
  namespaced: true,
  params: PluginParams,
  inputErrors: nameErrors,
  status: 200,
  result: Success,
  errors: ["PLUGIN_NOT_FOUND", "BUILT_IN_PLUGIN_REMOVE_FORBIDDEN", ...indexErrors],
});
