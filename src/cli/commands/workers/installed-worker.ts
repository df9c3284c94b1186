import { ApiError } from "../../../shared/api-error.js";
import type { list } from "../../../shared/contract/workers.js";
import { installedVersions, toInstalledWorker, type InstalledVersion, type InstalledWorker } from "../../../shared/worker-versions.js";
import { CommandError } from "../../command/command-error.js";
import type { Connection } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";

export type Listing = Connection<{ workers: { list: typeof list } }>;

/** Returns the worker with this name. Throws WORKER_NOT_FOUND if no such worker exists or the key cannot read it. */
export async function findWorker({ client }: Listing, name: string): Promise<InstalledWorker> {
  const rows = (await client.workers.list()).filter((worker) => worker.name === name);
  if (rows.length === 0)
    throw new CommandError("WORKER_NOT_FOUND", `no worker named ${name} is installed`, {
      exitCode: exitCodes.notFound,
      hint: "runtimectl workers list",
    });
  return toInstalledWorker(name, rows);
}

/** Whether a worker with this name is installed. Undefined if the key cannot list workers. */
export async function isInstalled(connection: Listing, name: string): Promise<boolean | undefined> {
  const versions = await findVersions(connection, name);
  return versions && versions.length > 0;
}

/** Returns the versions of a worker, newest first. Empty if it is not installed, undefined if the key cannot list workers. */
export async function findVersions({ client }: Listing, name: string): Promise<InstalledVersion[] | undefined> {
  try {
    return installedVersions((await client.workers.list()).filter((worker) => worker.name === name));
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return undefined;
    throw error;
  }
}
