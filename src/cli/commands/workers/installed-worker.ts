import type { list } from "../../../shared/contract/workers.js";
import { toInstalledWorker, type InstalledWorker } from "../../../shared/worker-versions.js";
import { CommandError } from "../../command/command-error.js";
import type { Connection } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";

export type Listing = Connection<{ workers: { list: typeof list } }>;

/** Returns the worker with this name. Throws WORKER_NOT_FOUND if the key can see no worker with this name. */
export async function findWorker({ client }: Listing, name: string): Promise<InstalledWorker> {
  const rows = (await client.workers.list()).filter((worker) => worker.name === name);
  if (rows.length === 0)
    throw new CommandError("WORKER_NOT_FOUND", `no worker named ${name} is installed`, {
      exitCode: exitCodes.notFound,
      hint: "runtimectl workers list",
    });
  return toInstalledWorker(name, rows);
}
