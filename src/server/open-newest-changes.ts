import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../shared/api-error.js";
import { outdatedErrors } from "../shared/contract/outdated-errors.js";
import type { NewestChanges } from "./http/newest-changes.js";
import type { Services } from "./services.js";

/**
 * Maximum time in ms in which the daemon applies changes of packages, such as the download of a plugin. With the 2 s for the changes
 * themselves, a call stays below the usual time limits of clients.
 */
const applyLimitMs = 5_000;
/** Seconds in the `Retry-After` header of the response after this time. */
const retryAfterSeconds = 5;

/** Returns the changes of other daemons with the same primary. The daemons share packages only if `sharedPackages` is set. */
export function openNewestChanges({
  store,
  packages,
  sharedPackages,
}: Pick<Services, "store" | "packages" | "sharedPackages">): NewestChanges {
  const concernsPackages = (code: Parameters<NewestChanges["canCause"]>[0]) =>
    sharedPackages !== undefined && outdatedErrors.packages.has(code);
  return {
    canCause: (code) => outdatedErrors.index.has(code) || concernsPackages(code),
    apply: async (code) => {
      await store.fetchChanges?.();
      if (!concernsPackages(code)) return;
      const applied = Promise.all([packages.settled(), sharedPackages?.plugins.settled()]).then(() => true);
      if (await Promise.race([applied, delay(applyLimitMs, false, { ref: false })])) return;
      throw new ApiError(
        "PACKAGE_UNAVAILABLE",
        "This daemon is still downloading packages that another daemon has changed. Nothing was changed. Retry later.",
        { retryAfterSeconds },
      );
    },
  };
}
