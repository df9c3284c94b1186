import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { Success } from "./success.js";
import { WorkerParams } from "./worker-params.js";

/** Size and limits of the data folder of a worker. */
export const DataFolder = z.object({
  worker: z.string(),
  sizeBytes: z.number().min(0).describe("Allocated blocks and 4 KB per entry"),
  entries: z.int().min(0).describe("Files and folders"),
  limitBytes: z.int().optional().describe("`data` in the manifest of the active version; absent if no active version has a data folder"),
  full: z.boolean().describe("True while the worker can only read and delete, because the folder exceeded its limit"),
});
export type DataFolder = z.output<typeof DataFolder>;

const nameErrors = { name: "INVALID_PACKAGE_NAME" } as const;

export const list = endpoint({
  method: "GET",
  path: "/data",
  summary: "List the data folders of workers; a restricted key sees those of its namespaces only",
  access: "workers:read",
  status: 200,
  result: z.object({ data: z.array(DataFolder) }),
});

export const download = endpoint({
  method: "GET",
  path: "/workers/:scope/:name/data",
  summary: "Download a copy of the data folder of a worker as a zip; requests wait while it is copied",
  access: "workers:install",
  namespaced: true,
  params: WorkerParams,
  inputErrors: nameErrors,
  download: "A zip",
  status: 200,
  errors: ["DATA_NOT_FOUND", "INSUFFICIENT_STORAGE"],
});

export const remove = endpoint({
  method: "DELETE",
  path: "/workers/:scope/:name/data",
  summary: "Delete the data folder of a worker; requests wait until its isolates have ended",
  change: "worker.data-removed",
  access: "workers:remove",
  namespaced: true,
  params: WorkerParams,
  inputErrors: nameErrors,
  status: 200,
  result: Success,
  errors: ["DATA_NOT_FOUND"],
});
