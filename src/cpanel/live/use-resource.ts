import { useCallback, useEffect, useEffectEvent } from "react";
import { usePanel } from "../use-panel.js";
import type { ResourceState } from "./query-state.js";
import { useObserved } from "./use-observed.js";

/** Polling interval of a list while it is shown. */
const usualIntervalMs = 5000;

export interface Resource<Data> extends ResourceState<Data> {
  /** Requests the resource after a change. Resolves with the new state. */
  readonly refresh: () => Promise<void>;
}

export interface ResourceOptions {
  /** `Infinity`: only once. */
  readonly intervalMs?: number;
  /** If false, the resource is not requested, such as when the key lacks the permission. */
  readonly isWanted?: boolean;
}

/** Returns a resource and polls it while the component is mounted. Equal names must request the same resource. */
export function useResource<Data>(
  name: string,
  ask: () => Promise<Data>,
  { intervalMs = usualIntervalMs, isWanted = true }: ResourceOptions = {},
): Resource<Data> {
  const { resources } = usePanel();
  const resource = resources.of<Data>(name);
  const askNow = useEffectEvent(ask);
  useEffect(() => (isWanted ? resource.watch(() => askNow(), intervalMs) : undefined), [resource, intervalMs, isWanted]);
  const refresh = useCallback(() => resource.refreshAfterChange(), [resource]);
  return { ...useObserved(resource.state), refresh };
}
