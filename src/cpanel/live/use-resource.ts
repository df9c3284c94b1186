import { useCallback, useEffect, useEffectEvent } from "react";
import { usePanel } from "../use-panel.js";
import type { ResourceState } from "./query-state.js";
import { useObserved } from "./use-observed.js";

/** How often a list is read again while it is looked at. */
const usualIntervalMs = 5000;

export interface Resource<Data> extends ResourceState<Data> {
  /** Reads it again after something was changed; resolves with what is true then. */
  readonly refresh: () => Promise<void>;
}

export interface ResourceOptions {
  /** `Infinity` = only once. */
  readonly intervalMs?: number;
  /** Not asked for while false: such as when the key may not. */
  readonly isWanted?: boolean;
}

/** What the daemon says, kept fresh while the component is there. `name` always means the same question. */
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
