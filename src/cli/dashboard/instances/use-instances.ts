import type { Instance } from "../../../shared/contract/instances.js";
import { useIsAllowed } from "../components/require-permission.js";
import { useQuery } from "../queries/hooks.js";
import type { LiveState } from "../queries/query-state.js";

/** Default polling interval. The interval limits the load, because the daemon sends a request to every other daemon for each request. */
const usualIntervalMs = 10_000;

/** Returns the daemons with the same primary. Sends no request if the API key lacks the permission. */
export function useInstances({ intervalMs = usualIntervalMs }: { intervalMs?: number } = {}): LiveState<readonly Instance[]> {
  const isAllowed = useIsAllowed();
  return useQuery("instances", (client) => client.instances.list(), isAllowed("workers:read"), intervalMs);
}
