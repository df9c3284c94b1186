import { ApiError } from "../../../shared/api-error.js";
import { CommandError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import { activeVersionOf, type InstalledWorker } from "../../../shared/worker-versions.js";
import { findWorker, type Listing } from "./installed-worker.js";

/** Returns the URL at which the daemon serves a version: the worker's URL if the version is active, otherwise the URL of the version. */
export async function activeUrl(
  { output }: Context,
  connection: Listing,
  uploaded: { readonly name: string; readonly version: string },
  {
    isToldOfOff = false,
  }: { /* Whether the command has already told the user that the version is disabled. */ readonly isToldOfOff?: boolean } = {},
): Promise<string> {
  const { name, version } = uploaded;
  const worker = await workerIfKnown(connection, name);
  const url = `${connection.origin}/${name}/`;
  const answering = worker && activeVersionOf(worker.versions)?.version;
  if (worker === undefined || answering === version) return url;
  if (worker.versions.some((installed) => installed.version === version && !installed.enabled)) {
    if (!isToldOfOff)
      output.warn(`${name}@${version} is disabled by its manifest; to serve it: runtimectl workers enable ${name}@${version}`);
    return url;
  }
  output.warn(`${answering} is the active version at ${url}; this version is served only at its version URL`);
  return `${connection.origin}/${name}@${version}/`;
}

/** Returns the worker with this name. Undefined if the worker is not installed, or if the key lacks the permission workers:read. */
async function workerIfKnown(connection: Listing, name: string): Promise<InstalledWorker | undefined> {
  try {
    return await findWorker(connection, name);
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return undefined;
    if (error instanceof CommandError && error.code === "WORKER_NOT_FOUND") return undefined;
    throw error;
  }
}
