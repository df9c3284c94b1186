import { ApiError } from "../../../shared/api-error.js";
import type { Client } from "../../../shared/client.js";

interface Readiness {
  /** `ready`, or what keeps the daemon from that. */
  readonly state: string;
  readonly version: string | undefined;
}

/** Whether the daemon takes requests. That it does not is an answer, not a failure. */
export async function readiness(client: Client): Promise<Readiness> {
  try {
    const { status, version } = await client.health.ready();
    return { state: status, version };
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_READY") return { state: `not ready: ${error.message}`, version: undefined };
    throw error;
  }
}
