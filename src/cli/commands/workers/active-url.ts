import { ApiError } from "../../../shared/api-error.js";
import { CommandError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import { answeringVersion, type InstalledWorker } from "../../../shared/worker-versions.js";
import { findWorker, type Listing } from "./installed-worker.js";

/** The URL under which this version answers: the worker's own, or the pinned one when another version answers there. */
export async function activeUrl(
  { output }: Context,
  connection: Listing,
  uploaded: { readonly name: string; readonly version: string },
  { isToldOfOff = false }: { /** The user knows already that the version is off. */ readonly isToldOfOff?: boolean } = {},
): Promise<string> {
  const { name, version } = uploaded;
  const worker = await workerIfKnown(connection, name);
  const url = `${connection.origin}/${name}/`;
  const answering = worker && answeringVersion(worker.versions)?.version;
  if (worker === undefined || answering === version) return url;
  if (worker.versions.some((installed) => installed.version === version && !installed.enabled)) {
    if (!isToldOfOff)
      output.warn(`${name}@${version} is off, as its manifest says; to serve it: runtimectl workers enable ${name}@${version}`);
    return url;
  }
  output.warn(`${url} is answered by ${answering}; this version answers under its own URL only`);
  return `${connection.origin}/${name}@${version}/`;
}

/** Undefined also when the key may upload but not list. */
async function workerIfKnown(connection: Listing, name: string): Promise<InstalledWorker | undefined> {
  try {
    return await findWorker(connection, name);
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return undefined;
    if (error instanceof CommandError && error.code === "WORKER_NOT_FOUND") return undefined;
    throw error;
  }
}
