import type { ReactNode } from "react";
import type { Permission } from "../../../shared/permissions.js";
import { useQuery } from "../queries/hooks.js";
import { SafeText } from "./safe-text.js";
import { useDashboard } from "../session/hooks.js";

interface Props {
  readonly permission: Permission;
  readonly children: ReactNode;
}

/**
 * Renders the children if the API key has the permission. Otherwise shows the name of the missing permission, and the children send no
 * request.
 */
export function RequirePermission({ permission, children }: Props) {
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  if (principal === undefined || principal.permissions.includes(permission)) return children;
  return (
    <SafeText wrap="wrap">{`This screen requires the permission ${permission}, which the key ${principal.name} does not have. Sign in with another key.`}</SafeText>
  );
}

/**
 * Returns a function that checks whether a request can succeed. The check returns true if the API key has the permission, or if the
 * permissions of the API key are not loaded yet.
 */
export function useIsAllowed(): (permission: Permission) => boolean {
  const permissions = useQuery("session", (client) => client.session.show()).value?.principal.permissions;
  return (permission) => permissions === undefined || permissions.includes(permission);
}

/** Returns the message for a missing permission. */
export function lacking(permission: Permission): string {
  return `your key does not have the required permission ${permission}`;
}

/** Returns the permissions that the actions require and the API key lacks. Empty in read-only mode, in which no action is possible. */
export function useMissingPermissions(
  needing: readonly { readonly permission: Permission | readonly Permission[] }[],
): readonly Permission[] {
  const { isReadOnly } = useDashboard();
  const held = useQuery("session", (client) => client.session.show()).value?.principal.permissions;
  if (isReadOnly || held === undefined) return [];
  return [...new Set(needing.flatMap(({ permission }) => permission))].filter((permission) => !held.includes(permission));
}

/**
 * Returns a function that checks whether the API key has a permission. In read-only mode, the returned function returns false for every
 * permission.
 */
export function useMay(): (permission: Permission) => boolean {
  const { isReadOnly } = useDashboard();
  const permissions = useQuery("session", (client) => client.session.show()).value?.principal.permissions ?? [];
  return (permission) => !isReadOnly && permissions.includes(permission);
}
