import { useSyncExternalStore } from "react";
import { useSession } from "./use-session.js";

/** Whether what is shown is the last that was heard before the daemon left. */
export function useIsStale(): boolean {
  const { live } = useSession();
  return useSyncExternalStore(live.subscribe, live.contact).kind === "away";
}
