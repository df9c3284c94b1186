import { useSyncExternalStore } from "react";
import type { Observable } from "./observable.js";

/** The value as it is now; the component is drawn again when it changes. */
export function useObserved<Value>(observable: Observable<Value>): Value {
  return useSyncExternalStore(observable.subscribe, observable.get);
}
