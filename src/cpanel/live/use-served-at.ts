import { usePanel } from "../use-panel.js";
import { useObserved } from "./use-observed.js";

/** Returns the base URL of apps and plugins: the public URL that the operator configured, or the daemon's path prefix at this origin. */
export function useServedAt(): string {
  const { place, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  return discovery?.apps ?? place.daemonPath;
}
