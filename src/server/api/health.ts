import { ApiError } from "../../shared/api-error.js";
import { packageVersion } from "../package-root.js";
import type { ResourceHandlers } from "../http/handler.js";

/** What keeps the daemon from taking requests, in words; undefined when nothing does. */
export type ReadinessCheck = () => Promise<string | undefined>;

const retryAfterSeconds = 1;

export function createHealthHandlers(whatIsMissing: ReadinessCheck): ResourceHandlers<"health"> {
  const assertReady = async () => {
    const missing = await whatIsMissing();
    if (missing !== undefined) throw new ApiError("NOT_READY", `The daemon is not ready: ${missing}.`, { retryAfterSeconds });
  };
  return {
    overall: async () => {
      await assertReady();
      return { ok: true, status: "healthy", version: packageVersion };
    },
    ready: async () => {
      await assertReady();
      return { ok: true, status: "ready", version: packageVersion };
    },
    live: () => ({ ok: true, status: "live", version: packageVersion }),
  };
}
