import type { Permission } from "../../../shared/permissions.js";
import { useDashboard } from "./use-dashboard.js";
import { useQuery } from "./use-query.js";

/** Whether something that needs this permission is offered: the key has it, and changes are wanted at all. */
export function useMay(): (permission: Permission) => boolean {
  const { isReadOnly } = useDashboard();
  const permissions = useQuery("session", (client) => client.session.show()).value?.principal.permissions ?? [];
  return (permission) => !isReadOnly && permissions.includes(permission);
}
