import { ApiError } from "../../shared/api-error.js";
import type { CatalogedVersion, WorkerCatalog } from "./worker-catalog.js";

/** A version that is there and not built in; throws WORKER_NOT_FOUND, WORKER_VERSION_NOT_FOUND or BUILT_IN_WORKER_CHANGE_FORBIDDEN. */
export function changeableVersion(catalog: WorkerCatalog, name: string, version: string): CatalogedVersion {
  const current = catalog.versions(name)?.get(version);
  if (!current) throw workerNotFound(catalog, name, version);
  if (current.source !== "built-in") return current;
  throw new ApiError("BUILT_IN_WORKER_CHANGE_FORBIDDEN", `${name} ${version} is built in and cannot be enabled or disabled.`);
}

/** What to say when a worker, or a version of it, is not there. */
export function workerNotFound(catalog: WorkerCatalog, name: string, version: string | undefined): ApiError {
  if (version !== undefined && catalog.versions(name)) {
    return new ApiError("WORKER_VERSION_NOT_FOUND", `Version ${version} of ${name} is not installed.`);
  }
  return new ApiError("WORKER_NOT_FOUND", `No worker named ${name} is installed.`);
}
