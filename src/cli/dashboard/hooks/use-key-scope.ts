import { useLayoutEffect, useRef } from "react";
import type { KeyScope } from "../key-dispatcher.js";
import { useDashboard } from "./use-dashboard.js";

/** Gives keys a meaning while the component is there. */
export function useKeyScope(layer: KeyScope): void {
  const { dispatcher } = useDashboard();
  const latest = useRef(layer);
  // Before anything is drawn, so that the footer changes with what it describes.
  useLayoutEffect(() => dispatcher.add(latest), [dispatcher]);
  useLayoutEffect(() => {
    latest.current = layer;
    dispatcher.changed();
  });
}
