import { useCallback, useEffect, useEffectEvent } from "react";
import { usePanel } from "../use-panel.js";
import type { ResourceState } from "./query-state.js";
import { useObserved } from "./use-observed.js";

/** Default polling interval of a resource while a component shows the resource. */
const usualIntervalMs = 5000;

export interface Resource<Data> extends ResourceState<Data> {
  /** Requests the resource again after a change. Resolves when the new data is available. */
  readonly refresh: () => Promise<void>;
}

export interface ResourceOptions {
  /** Polling interval in milliseconds. `Infinity` requests the resource only once. */
  readonly intervalMs?: number;
  /** Whether to request the resource. False if, for example, the key lacks the permission to read the resource. */
  readonly isWanted?: boolean;
}

/**
 * Returns a resource of the API, and polls the resource while the component is mounted. Callers that pass the same name must request the
 * same resource.
 */
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
