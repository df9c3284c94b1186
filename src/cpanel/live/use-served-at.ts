import { usePanel } from "../use-panel.js";
import { useObserved } from "./use-observed.js";

/** Returns the prefix of paths of apps and plugins: the public address of the operator, or the daemon's paths at this origin. */
export function useServedAt(): string {
  const { place, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  return discovery?.apps ?? place.daemonPath;
}
