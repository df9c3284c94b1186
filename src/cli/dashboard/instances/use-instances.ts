import type { Instance } from "../../../shared/contract/instances.js";
import { useQuery } from "../queries/hooks.js";
import type { LiveState } from "../queries/query-state.js";

/** Returns the daemons with the same primary. Sends no request if the API key lacks the permission. */
export function useInstances(): LiveState<readonly Instance[]> {
  const permissions = useQuery("session", (client) => client.session.show()).value?.principal.permissions;
  return useQuery("instances", (client) => client.instances.list(), permissions === undefined || permissions.includes("workers:read"));
}
