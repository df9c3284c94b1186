import { ApiError } from "../../../shared/api-error.js";
import type { health, WorkerHealth } from "../../../shared/contract/worker-health.js";
import type { Connection } from "../../client/connection.js";

type Reading = Connection<{ workers: { health: typeof health } }>;

interface HealthQuery {
  readonly worker?: string | undefined;
  readonly instance?: string | undefined;
}

/**
 * Returns the health of one worker or of all workers, with the worker names as map keys. Undefined if the daemon does not report health.
 */
export async function findHealth({ client }: Reading, query: HealthQuery = {}): Promise<ReadonlyMap<string, WorkerHealth> | undefined> {
  const found = await client.workers.health({ query }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "NOT_FOUND") return undefined;
    throw error;
  });
  return found && new Map(found.map((health) => [health.name, health]));
}
