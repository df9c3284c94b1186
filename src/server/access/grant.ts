import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import type { Permission } from "../../shared/permissions.js";

/** Refuses a grant beyond what the granting principal holds itself: 403 PERMISSION_ESCALATION. */
export function assertMayGrant(principal: Principal, grant: { permissions: readonly Permission[]; namespaces: readonly string[] }): void {
  const missing = grant.permissions.filter((permission) => !principal.permissions.includes(permission));
  if (missing.length > 0)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot grant what it does not hold: ${missing.join(", ")}. Choose fewer permissions, or use a key that has these.`,
    );
  if (principal.namespaces.includes("*")) return;
  const foreign = grant.namespaces.filter((namespace) => !principal.namespaces.includes(namespace));
  if (foreign.length > 0)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot grant namespaces beyond its own (${principal.namespaces.join(", ")}): ${foreign.join(", ")}.`,
    );
}
