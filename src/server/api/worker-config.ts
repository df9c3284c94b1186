import { fromPathSegments } from "../../shared/package-name.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { WorkerConfigurations } from "../packages/configuration/worker-configurations.js";
import { fileCallerOf } from "./files.js";

/** Permission to read the text of a manifest and the values of `env`. */
const permissionToSeeValues = "workers:install";

export function createWorkerConfigHandlers(configurations: WorkerConfigurations): ResourceHandlers<"workerConfig"> {
  return {
    show: ({ params, principal }) =>
      configurations.read({ name: fromPathSegments(params), version: params.version }, fileCallerOf(principal, permissionToSeeValues)),
    change: ({ params, body, principal }) =>
      configurations.change(
        { name: fromPathSegments(params), version: params.version },
        body,
        fileCallerOf(principal, permissionToSeeValues),
      ),
  };
}
