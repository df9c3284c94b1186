import type { Permission } from "../../../shared/permissions.js";
import { useDashboard } from "./use-dashboard.js";
import { useQuery } from "./use-query.js";

/** The permissions that these need and the key does not hold. None in read-only mode, which offers nothing anyway. */
export function useMissingPermissions(needing: readonly { readonly permission: Permission }[]): readonly Permission[] {
  const { isReadOnly } = useDashboard();
  const held = useQuery("session", (client) => client.session.show()).value?.principal.permissions;
  if (isReadOnly || held === undefined) return [];
  return [...new Set(needing.map(({ permission }) => permission))].filter((permission) => !held.includes(permission));
}
