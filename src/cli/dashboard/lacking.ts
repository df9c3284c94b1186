import type { Permission } from "../../shared/permissions.js";

/** Why a key of the daemon's cannot be used for something. */
export function lacking(permission: Permission): string {
  return `the key in use does not hold ${permission}, which this needs`;
}
