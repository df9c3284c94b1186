import { usePanel } from "../use-panel.js";
import { useObserved } from "./use-observed.js";

/**
 * Returns the base URL of apps and plugins. It is the public URL that the operator configured, or the panel's own origin with the daemon's
 * path prefix.
 */
export function useServedAt(): string {
  const { paths, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  return discovery?.apps ?? paths.daemonPath;
}
