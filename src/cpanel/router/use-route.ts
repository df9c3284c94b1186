import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import type { Route } from "./router.js";

export function useRoute(): Route {
  return useObserved(usePanel().router.route);
}
