import type { ReactNode } from "react";
import type { Permission } from "../../../shared/permissions.js";
import { useLive } from "../hooks/use-live.js";
import { Words } from "./words.js";

interface Props {
  readonly permission: Permission;
  readonly children: ReactNode;
}

/** What only a key with this permission can see. Another is told which one it lacks, and the daemon is not asked. */
export function Needs({ permission, children }: Props) {
  const principal = useLive("session", (client) => client.session.show()).value?.principal;
  if (principal === undefined || principal.permissions.includes(permission)) return children;
  return (
    <Words wrap="wrap">{`The key ${principal.name} has no permission ${permission}, which this screen needs. Sign in with one that has it.`}</Words>
  );
}
