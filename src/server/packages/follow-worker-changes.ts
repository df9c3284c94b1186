import path from "node:path";
import { newPath } from "./transactions/moved-paths.js";
import type { PeerChange } from "./transactions/peer-change.js";
import type { WorkerCatalog } from "./worker-catalog.js";

interface Following {
  readonly catalog: WorkerCatalog;
  readonly directory: string;
  /** A folder is no longer current; `movedTo` is where its files are now. */
  readonly onRetired: (folder: string, movedTo: string | undefined) => void;
}

/** Reads what other instances have changed in a directory. */
export function followWorkerChanges({ catalog, directory, onRetired }: Following, changes: readonly PeerChange[]): void {
  const absolute = (below: string) => path.join(directory, below);
  for (const { folders, edited = [], moved = [] } of changes) {
    const editedFolders = new Set(edited.map(absolute));
    const isChanged = (folder: string) => editedFolders.has(folder) || edited.some((each) => path.dirname(absolute(each)) === folder);
    const gone = folders.flatMap((folder) => catalog.refresh(directory, absolute(folder), isChanged));
    const moves = moved.map(({ from, to }) => ({ from: absolute(from), to: absolute(to) }));
    for (const folder of gone) onRetired(folder, newPath(folder, moves));
  }
}
