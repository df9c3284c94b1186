import type { ReactNode } from "react";
import type { Permission } from "../../../shared/permissions.js";
import { useQuery } from "../hooks/use-query.js";
import { SafeText } from "./safe-text.js";

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
