import type { ReactNode } from "react";
import type { Permission } from "../../../shared/permissions.js";
import { useQuery } from "../queries/hooks.js";
import { SafeText } from "./safe-text.js";
import { useDashboard } from "../session/hooks.js";

interface Props {
  readonly permission: Permission;
  readonly children: ReactNode;
}

/** What only a key with this permission can see. Another is told which one it lacks, and the daemon is not asked. */
export function RequirePermission({ permission, children }: Props) {
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  if (principal === undefined || principal.permissions.includes(permission)) return children;
  return (
    <SafeText wrap="wrap">{`The key ${principal.name} has no permission ${permission}, which this screen needs. Sign in with one that has it.`}</SafeText>
  );
}

/** Why a key of the daemon's cannot be used for something. */
export function lacking(permission: Permission): string {
  return `the key in use does not hold ${permission}, which this needs`;
}

/** The permissions that these need and the key does not hold. None in read-only mode, which offers nothing anyway. */
export function useMissingPermissions(needing: readonly { readonly permission: Permission }[]): readonly Permission[] {
  const { isReadOnly } = useDashboard();
  const held = useQuery("session", (client) => client.session.show()).value?.principal.permissions;
  if (isReadOnly || held === undefined) return [];
  return [...new Set(needing.map(({ permission }) => permission))].filter((permission) => !held.includes(permission));
}

/** Whether something that needs this permission is offered: the key has it, and changes are wanted at all. */
export function useMay(): (permission: Permission) => boolean {
  const { isReadOnly } = useDashboard();
  const permissions = useQuery("session", (client) => client.session.show()).value?.principal.permissions ?? [];
  return (permission) => !isReadOnly && permissions.includes(permission);
}
