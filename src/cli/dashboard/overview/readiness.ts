import { ApiError } from "../../../shared/api-error.js";
import type { HealthCheck } from "../../../shared/contract/health.js";
import type { Client } from "../../../shared/client.js";

interface Readiness {
  /** The text `ready`, or the reason why the daemon is not ready. */
  readonly state: string;
  readonly version: string | undefined;
  /** The health checks. The daemon sends them only for API keys with the permission keys:read. */
  readonly checks: readonly HealthCheck[];
}

/** Returns the readiness and version of the daemon. If the daemon is not ready, resolves with the reason instead of rejecting. */
export async function readiness(client: Client): Promise<Readiness> {
  try {
    const { status, version, checks = [] } = await client.health.ready({ query: { verbose: "1" } });
    return { state: status, version, checks };
  } catch (error) {
    if (error instanceof ApiError && error.code === "NOT_READY")
      return { state: `not ready: ${error.message}`, version: undefined, checks: [] };
    throw error;
  }
}
