import { existsSync } from "node:fs";
import { ApiError } from "../../shared/api-error.js";
import type { KeyedLock } from "../platform/keyed-lock.js";
import type { PackageStore } from "./package-store.js";
import { movesOf, newPath, retireFolder, type InstallAreas, type RetireOptions } from "./transactions/install-areas.js";
import type { Move } from "./transactions/journal.js";
import { inTransaction } from "./transactions/transaction.js";
import type { CatalogedVersion, WorkerCatalog } from "./worker-catalog.js";
import { wholeWorker, workerNotFound } from "./worker-changes.js";

interface WorkerRemovalOptions {
  readonly catalog: WorkerCatalog;
  readonly areas: InstallAreas;
  /** Locks by worker name, so that operations on the same worker run one after another. */
  readonly locks: KeyedLock;
  readonly store: PackageStore;
  readonly retiring: RetireOptions;
}

/** The removal of one worker or of one version. */
interface Removal {
  readonly name: string;
  /** Undefined for the removal of all versions. */
  readonly version: string | undefined;
  /** Returns the versions to remove from all worker directories. */
  readonly find: () => readonly CatalogedVersion[];
  /** Returns the folder to remove for a version, which is the folder of this version or of the whole worker. */
  readonly choose: (version: CatalogedVersion) => string;
  readonly builtInCode: "BUILT_IN_WORKER_REMOVE_FORBIDDEN" | "BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN";
}

/** Deletes uploaded workers and versions from the worker directories. */
export class WorkerRemoval {
  readonly #options: WorkerRemovalOptions;

  constructor(options: WorkerRemovalOptions) {
    this.#options = options;
  }

  /**
   * Deletes all uploaded versions of a worker. Throws `WORKER_NOT_FOUND`, or `BUILT_IN_WORKER_REMOVE_FORBIDDEN` if all versions are built
   * in.
   */
  async remove(name: string): Promise<void> {
    const { catalog } = this.#options;
    await this.#remove({
      name,
      version: undefined,
      find: () => catalog.found(name),
      choose: (version) => wholeWorker(catalog, version),
      builtInCode: "BUILT_IN_WORKER_REMOVE_FORBIDDEN",
    });
  }

  /**
   * Deletes a version from all worker directories. Throws `WORKER_VERSION_NOT_FOUND`, or `BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN` if the
   * version is only built in.
   */
  async removeVersion(name: string, version: string): Promise<void> {
    const { catalog } = this.#options;
    await this.#remove({
      name,
      version,
      find: () => catalog.found(name).filter((candidate) => candidate.version === version),
      choose: ({ folder }) => folder,
      builtInCode: "BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN",
    });
  }

  async #remove({ name, version, find, choose, builtInCode }: Removal): Promise<void> {
    const { catalog, locks } = this.#options;
    const found = find();
    if (found.length === 0) throw workerNotFound(catalog, name, version);
    if (found.every(({ source }) => source === "built-in")) {
      throw new ApiError(builtInCode, `${version === undefined ? name : `${name} ${version}`} is built in and cannot be deleted.`);
    }
    const isRemoved = await locks.run(name, () => this.#takeAway(find, choose));
    if (!isRemoved) throw workerNotFound(catalog, name, version);
  }

  /**
   * Removes the uploaded folders that `find` returns, one worker directory after another. Returns true if it removed at least one folder.
   */
  async #takeAway(find: () => readonly CatalogedVersion[], choose: (version: CatalogedVersion) => string): Promise<boolean> {
    let isAnything = false;
    for (const area of this.#options.areas.all()) {
      const findHere = () => find().filter(({ directory, source }) => directory === area.directory && source === "uploaded");
      if (findHere().length === 0) continue;
      await inTransaction(area, async (staged) => {
        let retiring: Promise<void>[] = [];
        await area.exclusively(async () => {
          const versions = findHere();
          if (versions.length === 0) return;
          const targets = [...new Set(versions.map(choose))].filter((folder) => existsSync(folder));
          await this.#options.store.remove(versions);
          isAnything = true;
          await staged.takeAway(targets, (movedTo) => (retiring = this.#afterTakingAway(versions, movesOf(targets, movedTo))));
        });
        void Promise.all(retiring).then(() => staged.discard());
      });
    }
    return isAnything;
  }

  #afterTakingAway(versions: readonly CatalogedVersion[], moved: readonly Move[]): Promise<void>[] {
    const [{ directory }] = versions as [CatalogedVersion];
    const gone = [...new Set(versions.map(({ workerFolder }) => workerFolder))].flatMap((folder) =>
      this.#options.catalog.refresh(directory, folder),
    );
    return gone.map((folder) => retireFolder(this.#options.retiring, folder, newPath(folder, moved)));
  }
}
