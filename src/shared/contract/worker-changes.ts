import * as z from "zod";
import { archiveErrors, indexErrors, storeErrors } from "./archive-errors.js";
import { endpoint } from "./endpoint.js";
import { Notified } from "./instances.js";
import { Success, successOf } from "./success.js";
import { WorkerParams, WorkerVersionParams } from "./worker-params.js";

const ToggledVersion = successOf(z.object({ name: z.string(), version: z.string(), enabled: z.boolean() }));
const nameErrors = { name: "INVALID_PACKAGE_NAME" } as const;
const versionErrors = { name: "INVALID_PACKAGE_NAME", version: "INVALID_PACKAGE_VERSION" } as const;

const flag = z.enum(["false", "true"]).optional();

export const upload = endpoint({
  method: "POST",
  path: "/workers/upload",
  summary: "Install a worker version from an archive, replacing the same version",
  change: "worker.installed",
  access: "workers:install",
  upload: "file",
  query: z.object({
    check: flag.describe(
      "`true`: load the version in a separate isolate and request `check` of its manifest, or `/`; change nothing if that fails",
    ),
    newOnly: flag.describe("`true`: reject the upload with VERSION_EXISTS if the version is installed"),
    disableLatest: flag.describe("`true`: disable the version `latest` of the worker by the same change"),
  }),
  status: 201,
  result: successOf(
    z.object({ worker: z.object({ name: z.string(), version: z.string(), installedAt: z.string().describe("Folder on the server") }) }),
  ),
  errors: [
    "NO_WORKER_DIRS",
    ...archiveErrors,
    "BUILT_IN_WORKER_CHANGE_FORBIDDEN",
    "PATH_NOT_WRITABLE",
    "VERSION_EXISTS",
    "WORKER_START_FAILED",
    "WORKER_CHECK_FAILED",
    "SECRET_MISSING",
    ...storeErrors,
  ],
});

export const enable = endpoint({
  method: "POST",
  path: "/workers/:scope/:name/:version/enable",
  summary: "Enable a version",
  change: "worker.enabled",
  access: "workers:install",
  namespaced: true,
  params: WorkerVersionParams,
  inputErrors: versionErrors,
  status: 200,
  result: ToggledVersion,
  errors: [
    "WORKER_NOT_FOUND",
    "WORKER_VERSION_NOT_FOUND",
    "BUILT_IN_WORKER_CHANGE_FORBIDDEN",
    "INVALID_PACKAGE_METADATA",
    "SECRET_MISSING",
    "STORAGE_NOT_WRITABLE",
    "INSUFFICIENT_STORAGE",
    ...indexErrors,
  ],
});

export const disable = endpoint({
  ...enable,
  path: "/workers/:scope/:name/:version/disable",
  summary: "Disable a version without deleting it",
  change: "worker.disabled",
});

export const restart = endpoint({
  method: "POST",
  path: "/workers/:scope/:name/:version/restart",
  summary: "Replace the isolates of a version on all daemons; running isolates finish their requests",
  change: "worker.restarted",
  access: "workers:restart",
  namespaced: true,
  params: WorkerVersionParams,
  inputErrors: versionErrors,
  status: 200,
  result: successOf(
    z.object({
      name: z.string(),
      version: z.string(),
      restarted: z.int().min(0).describe("Number of replaced isolates of this daemon"),
      instances: Notified.optional().describe("The other daemons; absent without a primary"),
    }),
  ),
  errors: ["WORKER_NOT_FOUND", "WORKER_VERSION_NOT_FOUND"],
});

export const remove = endpoint({
  method: "DELETE",
  path: "/workers/:scope/:name",
  summary: "Delete a worker with all versions",
  change: "worker.deleted",
  access: "workers:remove",
  namespaced: true,
  params: WorkerParams,
  inputErrors: nameErrors,
  status: 200,
  result: Success,
  errors: ["WORKER_NOT_FOUND", "BUILT_IN_WORKER_REMOVE_FORBIDDEN", ...indexErrors],
});

export const removeVersion = endpoint({
  method: "DELETE",
  path: "/workers/:scope/:name/:version",
  summary: "Delete one version of a worker",
  change: "worker.version-deleted",
  access: "workers:remove",
  namespaced: true,
  params: WorkerVersionParams,
  inputErrors: versionErrors,
  status: 200,
  result: Success,
  errors: ["WORKER_NOT_FOUND", "WORKER_VERSION_NOT_FOUND", "BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN", ...indexErrors],
});
