import { useObserved } from "../../live/use-observed.js";
import { usePanel } from "../../use-panel.js";
import { fileOperations, type FileKind } from "./file-operations.js";

/** Returns a function that builds the download URL of a file, or of a folder as a zip. The session cookie authenticates the download. */
export function useDownloadUrl(kind: FileKind): (path: string) => string {
  const { paths, connection } = usePanel();
  const { discovery } = useObserved(connection.state);
  const base = `${paths.daemonPath}${discovery?.api ?? ""}${fileOperations[kind].download.path}`;
  return (path) => `${base}?${new URLSearchParams({ path }).toString()}`;
}
