import path from "node:path";
import type { ChangeType } from "../../shared/contract/changes.js";
import type { SharedChange } from "./transactions/shared-change.js";
import type { CatalogedVersion, WorkerCatalog } from "./worker-catalog.js";

/** What other instances are told of a change to versions of a worker. */
export function workerChange(
  type: ChangeType,
  subject: SharedChange["subject"],
  versions: readonly Pick<CatalogedVersion, "directory" | "workerFolder">[],
): SharedChange {
  return { type, subject, folders: [...new Set(versions.map(({ directory, workerFolder }) => path.relative(directory, workerFolder)))] };
}

/** What is taken away to delete all of a worker: its own folder when all in it is of that worker, else the version's. */
export function wholeWorker(catalog: WorkerCatalog, version: CatalogedVersion): string {
  const isAlone = catalog.versionsIn(version.workerFolder).every(({ name }) => name === version.name);
  return isAlone ? version.workerFolder : version.folder;
}
