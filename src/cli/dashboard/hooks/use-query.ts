import { useSyncExternalStore } from "react";
import type { Client } from "../../../shared/client.js";
import type { LiveState } from "../query-state.js";
import { useSession } from "./use-session.js";

/** What the daemon says under this name, kept up to date while it is on the screen. A name always means the same question. */
export function useQuery<Value>(name: string, ask: (client: Client) => Promise<Value>): LiveState<Value> {
  const resource = useSession().resource(name, ask);
  return useSyncExternalStore(resource.subscribe, resource.state);
}
