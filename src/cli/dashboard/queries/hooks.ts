import { useSyncExternalStore, useEffect, useState } from "react";
import type { Client } from "../../../shared/client.js";
import type { LiveState } from "./query-state.js";
import { useSession, useDashboard } from "../session/hooks.js";
import type { Permission } from "../../../shared/permissions.js";
import { useKeyScope, type Handlers } from "../keyboard/key-dispatcher.js";
import { lacking, useMay, useMissingPermissions } from "../components/require-permission.js";

const tickMs = 1000;

/** What the daemon says under this name, kept up to date while it is on the screen. A name always means the same question. */
export function useQuery<Value>(name: string, ask: (client: Client) => Promise<Value>): LiveState<Value> {
  const resource = useSession().resource(name, ask);
  return useSyncExternalStore(resource.subscribe, resource.state);
}

/** Whether what is shown is the last that was heard before the daemon left. */
export function useIsStale(): boolean {
  const { live } = useSession();
  return useSyncExternalStore(live.subscribe, live.contact).kind === "away";
}

/** Whether the component has stayed for so long: what is passed by while scrolling is not worth a request. */
export function useIsSettled(afterMs: number): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), afterMs);
    return () => clearTimeout(timer);
  }, [afterMs]);
  return isSettled;
}

/** Offers keys that change something to those whose key may; the others are told why not. Nothing in read-only mode. */
export function useChanges(handlers: Handlers, permission: Permission, lines: readonly string[]): void {
  const { overlays } = useDashboard();
  const isMissing = useMissingPermissions([{ permission }]).length > 0;
  const isOffered = useMay()(permission);
  const refuse = () => overlays.say("note", lacking(permission));
  useKeyScope({
    handlers: isOffered ? handlers : {},
    refusals: isMissing ? Object.fromEntries(Object.keys(handlers).map((id) => [id, refuse])) : {},
    lines: isOffered ? lines : [],
  });
}

/** The time, once a second while it is wanted. */
export function useNow(isWanted: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isWanted) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [isWanted]);
  return now;
}
