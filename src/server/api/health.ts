import { ApiError } from "../../shared/api-error.js";
import type { HealthCheck } from "../../shared/contract/health.js";
import { packageVersion } from "../package-root.js";
import type { ResourceHandlers } from "../http/handler.js";

/** Whether the daemon can serve requests, and the results of its health checks. */
export interface Readiness {
  /** Reason why the daemon cannot serve requests. Every caller can read this text. Undefined if the daemon is ready. */
  readonly missing: string | undefined;
  /** Results of the individual health checks. Only operators can read these. */
  readonly checks: HealthCheck[];
}

const retryAfterSeconds = 1;

/** `readReadiness` waits for the results of all checks if `isVerbose` is true. */
export function createHealthHandlers(readReadiness: (options: { isVerbose: boolean }) => Promise<Readiness>): ResourceHandlers<"health"> {
  const assertReady = async ({ isVerbose = false } = {}): Promise<HealthCheck[]> => {
    const { missing, checks } = await readReadiness({ isVerbose });
    if (missing === undefined) return checks;
    const details = isVerbose ? { checks } : undefined;
    throw new ApiError("NOT_READY", `The daemon is not ready: ${missing}.`, { retryAfterSeconds, details });
  };
  return {
    overall: async () => {
      await assertReady();
      return { ok: true, status: "healthy", version: packageVersion };
    },
    ready: async ({ query, principal }) => {
      const isVerbose = query.verbose === "1" && principal?.permissions.includes("keys:read") === true;
      const checks = await assertReady({ isVerbose });
      return { ok: true, status: "ready", version: packageVersion, ...(isVerbose && { checks }) };
    },
    live: () => ({ ok: true, status: "live", version: packageVersion }),
  };
}
