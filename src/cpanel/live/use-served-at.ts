import { usePanel } from "../use-panel.js";
import { useObserved } from "./use-observed.js";

/** What the paths of apps and plugins follow: the address that the operator has named, or the daemon's paths at this origin. */
export function useServedAt(): string {
  const { place, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  return discovery?.apps ?? place.daemonPath;
}
