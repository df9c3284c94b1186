import { useCallback, useSyncExternalStore, useEffect, useState } from "react";
import type { Client } from "../../../shared/client.js";
import type { LiveState } from "./query-state.js";
import { useSession, useDashboard } from "../session/hooks.js";
import type { Permission } from "../../../shared/permissions.js";
import { useKeyScope, type Handlers } from "../keyboard/key-dispatcher.js";
import { lacking, useMay, useMissingPermissions } from "../components/require-permission.js";

const tickMs = 1000;

/**
 * Returns the state of a query and keeps it up to date while the component is mounted. All callers must use the same request for a name. If
 * `isWanted` is false, sends no request. A longer interval of the user overrides `intervalMs`.
 */
export function useQuery<Value>(
  name: string,
  ask: (client: Client) => Promise<Value>,
  isWanted = true,
  intervalMs?: number,
): LiveState<Value> {
  const resource = useSession().resource(name, ask);
  const subscribe = useCallback((listener: () => void) => resource.subscribe(listener, intervalMs), [resource, intervalMs]);
  return useSyncExternalStore(isWanted ? subscribe : notSubscribed, resource.state);
}

const notSubscribed = () => () => {};

/** Whether the daemon is unreachable, so that all data is outdated. */
export function useIsStale(): boolean {
  const { live } = useSession();
  return useSyncExternalStore(live.subscribe, live.contact).kind === "away";
}

/** Returns whether the component has been mounted for `afterMs`. Avoids requests for items that the user only scrolls past. */
export function useIsSettled(afterMs: number): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), afterMs);
    return () => clearTimeout(timer);
  }, [afterMs]);
  return isSettled;
}

/**
 * Registers shortcuts that require a permission. If the permission is missing, the shortcuts show the name of the permission. In
 * read-only mode, the shortcuts have no effect.
 */
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

/** Returns the current time in Unix milliseconds, updated every second while `isWanted`. */
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
