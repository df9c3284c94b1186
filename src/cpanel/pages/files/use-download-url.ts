import { useObserved } from "../../live/use-observed.js";
import { usePanel } from "../../use-panel.js";
import { fileOperations, type FileKind } from "./file-operations.js";

/** The address from which the browser downloads a file, or a folder as a zip: the session's cookie goes along by itself. */
export function useDownloadUrl(kind: FileKind): (path: string) => string {
  const { place, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  const base = `${place.daemonPath}${discovery?.api ?? ""}${fileOperations[kind].download.path}`;
  return (path) => `${base}?${new URLSearchParams({ path }).toString()}`;
}
