import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesWithin } from "../../shared/namespace.js";
import type { Permission } from "../../shared/permissions.js";

/** What a key can do, where, and until when. */
export interface Grant {
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  /** Unix seconds; undefined = the key never expires. */
  readonly expiresAt: number | undefined;
}

/** Rejects a grant beyond what the granting principal holds itself: 403 PERMISSION_ESCALATION. */
export function assertMayGrant(principal: Principal, grant: Grant): void {
  const missing = missingPermissions(principal, grant);
  if (missing.length > 0)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot grant what it does not hold: ${missing.join(", ")}. Choose fewer permissions, or use a key that has these.`,
    );
  if (!namespacesWithin(grant.namespaces, principal.namespaces)) {
    const foreign = grant.namespaces.filter((namespace) => !principal.namespaces.includes(namespace));
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot grant namespaces beyond its own (${principal.namespaces.join(", ")}): ${foreign.join(", ")}.`,
    );
  }
  if (principal.expiresAt !== undefined && (grant.expiresAt ?? Infinity) > principal.expiresAt)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key that expires cannot create a key that outlives it: it expires at ${new Date(principal.expiresAt * 1000).toISOString()}. Choose an earlier expiry, at least 1d, or use a key that lasts longer.`,
    );
}

/** Rejects revoking or replacing a key that holds more than the principal: 403 PERMISSION_ESCALATION. */
export function assertMayRevoke(principal: Principal, key: Pick<Grant, "permissions" | "namespaces">): void {
  // Namespaces first: of a key that the principal may not see the message tells nothing.
  if (!namespacesWithin(key.namespaces, principal.namespaces))
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot revoke or rotate a key of namespaces beyond its own (${principal.namespaces.join(", ")}). Use a key for all namespaces.`,
    );
  const missing = missingPermissions(principal, key);
  if (missing.length > 0)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot revoke or rotate a key that holds permissions beyond its own: ${missing.join(", ")}. Use a key that has these.`,
    );
}

function missingPermissions(principal: Principal, { permissions }: Pick<Grant, "permissions">): Permission[] {
  return permissions.filter((permission) => !principal.permissions.includes(permission));
}
