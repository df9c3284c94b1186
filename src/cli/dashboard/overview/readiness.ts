import { ApiError } from "../../../shared/api-error.js";
import type { Client } from "../../../shared/client.js";

interface Readiness {
  /** `ready`, or why the daemon is not ready. */
  readonly state: string;
  readonly version: string | undefined;
}

/** Returns whether the daemon is ready. "Not ready" is a result and not an error. */
export async function readiness(client: Client): Promise<Readiness> {
  try {
    const { status, version } = await client.health.ready();
    return { state: status, version };
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_READY") return { state: `not ready: ${error.message}`, version: undefined };
    throw error;
  }
}
