import path from "node:path";
import type { ChangeType } from "../../shared/contract/changes.js";
import type { PeerChange } from "./transactions/peer-change.js";
import type { CatalogedVersion, WorkerCatalog } from "./worker-catalog.js";

/** What other instances are told of a change to versions of a worker. */
export function workerChange(
  type: ChangeType,
  subject: PeerChange["subject"],
  versions: readonly Pick<CatalogedVersion, "directory" | "workerFolder">[],
): PeerChange {
  return { type, subject, folders: [...new Set(versions.map(({ directory, workerFolder }) => path.relative(directory, workerFolder)))] };
}

/** What is taken away to delete all of a worker: its own folder when all in it is of that worker, else the version's. */
export function wholeWorker(catalog: WorkerCatalog, version: CatalogedVersion): string {
  const isAlone = catalog.versionsIn(version.workerFolder).every(({ name }) => name === version.name);
  return isAlone ? version.workerFolder : version.folder;
}
