import type { CatalogedVersion, WorkerCatalog } from "./worker-catalog.js";
import { ApiError } from "../../shared/api-error.js";
import { versionExists } from "./package-store.js";
import { latestVersion } from "../../shared/package-name.js";

/** Throws VERSION_EXISTS if this version of the worker is installed. A version that only this daemon has does not count. */
export function refuseInstalled(catalog: WorkerCatalog, name: string, version: string): void {
  const installed = catalog.versions(name)?.get(version);
  if (installed && installed.isLocal !== true) throw versionExists(name, version);
}

/**
 * Returns the version `latest` of a worker if it is enabled and `version` is another version. Throws PATH_NOT_WRITABLE if `latest` is in
 * another directory than the upload, because one change cannot include two directories.
 */
export function enabledLatest(
  catalog: WorkerCatalog,
  { name, version, directory }: { name: string; version: string; directory: string },
): CatalogedVersion | undefined {
  if (version === latestVersion || catalog.versions(name)?.get(latestVersion)?.enabled !== true) return undefined;
  const latest = changeableVersion(catalog, name, latestVersion);
  if (latest.directory === directory) return latest;
  throw new ApiError(
    "PATH_NOT_WRITABLE",
    `The upload cannot disable the version latest of ${name}, because one change cannot include two directories. The version latest is in ${latest.directory}, the upload in ${directory}. Nothing was changed.`,
  );
}

/**
 * Returns the folder that a deletion of the worker deletes. This is the worker folder if it contains no other worker, otherwise the version
 * folder.
 */
export function wholeWorker(catalog: WorkerCatalog, version: CatalogedVersion): string {
  const isAlone = catalog.versionsIn(version.workerFolder).every(({ name }) => name === version.name);
  return isAlone ? version.workerFolder : version.folder;
}

/**
 * Returns an uploaded version, which the caller can change. Throws WORKER_NOT_FOUND, WORKER_VERSION_NOT_FOUND or
 * BUILT_IN_WORKER_CHANGE_FORBIDDEN.
 */
export function changeableVersion(catalog: WorkerCatalog, name: string, version: string): CatalogedVersion {
  const current = catalog.versions(name)?.get(version);
  if (!current) throw workerNotFound(catalog, name, version);
  if (current.source !== "built-in") return current;
  throw new ApiError("BUILT_IN_WORKER_CHANGE_FORBIDDEN", `${name} ${version} is built in and cannot be enabled or disabled.`);
}

/** Returns the error for a worker or version that is not installed. */
export function workerNotFound(catalog: WorkerCatalog, name: string, version: string | undefined): ApiError {
  if (version !== undefined && catalog.versions(name)) {
    return new ApiError("WORKER_VERSION_NOT_FOUND", `Version ${version} of ${name} is not installed.`);
  }
  return new ApiError("WORKER_NOT_FOUND", `No worker named ${name} is installed.`);
}
