import * as z from "zod";
import { isPackageName } from "../package-name.js";
import { editErrors } from "./archive-errors.js";
import { endpoint } from "./endpoint.js";
import { WorkerVersionParams } from "./worker-params.js";

/** One field of a manifest, with the value in effect and the source of this value. */
export const ConfigField = z.object({
  name: z.string(),
  value: z.unknown().describe("The value in effect, in the form of the manifest, such as `128mb` or `30s`; null: no value"),
  source: z
    .enum(["manifest", "default", "limit"])
    .describe("Origin of the value; limit: a limit of the daemon replaces the value of the manifest or the default"),
  note: z.string().optional().describe("Reason why the value differs from the manifest, has no effect or is not accepted"),
  limit: z.unknown().optional().describe("The daemon's limit of the field, in the form of the manifest"),
});
export type ConfigField = z.output<typeof ConfigField>;

/** The effective configuration of a worker version. */
export const WorkerConfig = z.object({
  etag: z.string().describe("Changes with the manifest and package.json; a change must name it"),
  editable: z.boolean().describe("False for a built-in package and for a folder in which the daemon changes no files"),
  problem: z.string().optional().describe("Reason why the daemon cannot use the manifest"),
  fields: z.array(ConfigField).describe("All fields of a manifest except `env`"),
  env: z
    .array(z.object({ name: z.string(), value: z.string().nullable().describe("null without the permission to install packages") }))
    .describe("The variables in `env`"),
  secrets: z.array(z.string()).describe("Names of the secrets in the manifest; values are never returned"),
  yaml: z.string().nullable().describe("Text of the manifest, empty without one; null without the permission to install packages"),
});
export type WorkerConfig = z.output<typeof WorkerConfig>;

/** The effective configuration of a plugin. Contains the fields of `WorkerConfig` and the JSON Schema of the plugin's settings. */
export const PluginConfig = WorkerConfig.extend({
  fields: z.array(ConfigField).describe("The settings of the plugin"),
  schema: z.record(z.string(), z.unknown()).nullable().describe("JSON Schema in `configSchema` of the plugin's manifest; null without one"),
});
export type PluginConfig = z.output<typeof PluginConfig>;

/** A change of a configuration, which contains either new values for some fields or the whole new text of the manifest. */
export const ConfigChange = z
  .strictObject({
    etag: z.string().min(1).max(200).describe("`etag` of the configuration that the change is based on"),
    set: z.record(z.string(), z.unknown()).optional().describe("New values by field; null removes the field from the manifest"),
    yaml: z.string().optional().describe("New text of the manifest"),
  })
  .refine(({ set, yaml }) => (set === undefined) !== (yaml === undefined), { path: ["set"], message: "send either set or yaml" });
export type ConfigChange = z.output<typeof ConfigChange>;

/** A field that makes a configuration change invalid. The error response lists these fields in `error.details.fields`. */
export interface ConfigFault {
  /** Name of the invalid field, or the file name of the manifest if the manifest text is not valid YAML. */
  readonly name: string;
  readonly message: string;
  /** Line number in the manifest text that the client sent, from 1. */
  readonly line?: number;
}

const changeErrors = [
  "INVALID_PACKAGE_METADATA",
  "PATH_NOT_WRITABLE",
  "STORAGE_NOT_WRITABLE",
  "INSUFFICIENT_STORAGE",
  ...editErrors,
] as const;
const workerNotFound = ["WORKER_NOT_FOUND", "WORKER_VERSION_NOT_FOUND"] as const;

export const showOfWorker = endpoint({
  method: "GET",
  path: "/workers/:scope/:name/:version/config",
  summary: "Return the effective configuration of a version, with the origin of each value",
  access: "workers:read",
  namespaced: true,
  params: WorkerVersionParams,
  inputErrors: { name: "INVALID_PACKAGE_NAME", version: "INVALID_PACKAGE_VERSION" },
  status: 200,
  result: WorkerConfig,
  errors: [...workerNotFound, "INVALID_PACKAGE_METADATA", "PACKAGE_UNAVAILABLE"],
});

export const changeOfWorker = endpoint({
  method: "PUT",
  path: "/workers/:scope/:name/:version/config",
  summary: "Change the manifest of a version; running isolates finish their requests",
  change: "worker.files-changed",
  access: "workers:install",
  namespaced: true,
  params: WorkerVersionParams,
  body: ConfigChange,
  inputErrors: { name: "INVALID_PACKAGE_NAME", version: "INVALID_PACKAGE_VERSION" },
  status: 200,
  result: WorkerConfig,
  errors: [...workerNotFound, "BUILT_IN_WORKER_CHANGE_FORBIDDEN", "SECRET_MISSING", ...changeErrors],
});

/** The path parameter `:name` is one path segment. A client percent-encodes the slash in the name of a scoped plugin. */
const PluginParams = z.object({ name: z.string().refine(isPackageName, "not a package name") });

export const showOfPlugin = endpoint({
  method: "GET",
  path: "/plugins/:name/config",
  summary: "Return the settings of a plugin, with the origin of each value and their schema",
  access: "plugins:read",
  namespaced: true,
  params: PluginParams,
  inputErrors: { name: "INVALID_PACKAGE_NAME" },
  status: 200,
  result: PluginConfig,
  errors: ["PLUGIN_NOT_FOUND", "INVALID_PACKAGE_METADATA"],
});

export const changeOfPlugin = endpoint({
  method: "PUT",
  path: "/plugins/:name/config",
  summary: "Change settings of a plugin and reload it; `yaml` also needs plugins:install",
  change: "plugin.files-changed",
  access: "plugins:config",
  namespaced: true,
  params: PluginParams,
  body: ConfigChange,
  inputErrors: { name: "INVALID_PACKAGE_NAME" },
  status: 200,
  result: PluginConfig,
  errors: [
    "PLUGIN_NOT_FOUND",
    "PLUGIN_UPLOADS_RESTRICTED",
    "NO_PLUGIN_DIRS",
    "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
    "BASE_TAKEN",
    ...changeErrors,
  ],
});
