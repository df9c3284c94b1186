import { useSyncExternalStore } from "react";
import type { Observable } from "./observable.js";

/** Returns the current value, and renders the component again when it changes. */
export function useObserved<Value>(observable: Observable<Value>): Value {
  return useSyncExternalStore(observable.subscribe, observable.get);
}
