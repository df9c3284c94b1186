import { useSyncExternalStore } from "react";
import type { Observable } from "./observable.js";

/** Returns the current value of an `Observable`. Renders the component again when the value changes. */
export function useObserved<Value>(observable: Observable<Value>): Value {
  return useSyncExternalStore(observable.subscribe, observable.get);
}
