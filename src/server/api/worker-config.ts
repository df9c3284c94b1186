import { fromPathSegments } from "../../shared/package-name.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { WorkerConfigurations } from "../packages/configuration/worker-configurations.js";
import { fileCallerOf } from "./files.js";

/** A key without this permission sees neither the values of `env` nor the text of the manifest. */
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
