import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { KeyedLock } from "../../platform/keyed-lock.js";
import { removeTree, type TreeRemover } from "../../platform/remove-folder.js";
import { DirectoryInUseError, DirectoryLock } from "./directory-lock.js";
import { readJournal, removeJournal, rollForward, type Journal } from "./journal.js";
import { Transaction } from "./transaction.js";

const stagingFolderName = ".staging";
const mostRemovals = 100;
const removalPauseMs = 100;
/** Maximum number of entries in a folder that the daemon itself deletes. A separate process deletes larger folders. */
const mostEntriesDeletedHere = 100;
const mostAttemptsToBegin = 50;

/**
 * The folder `.staging` of a package directory. Changes are prepared in this folder and become visible by a rename. The next start completes
 * or deletes the changes that a crash interrupted.
 */
export class StagingArea {
  /** The package directory that contains this staging area. */
  readonly directory: string;
  readonly #folder: string;
  readonly #log: Log;
  readonly #remover: TreeRemover;
  readonly #queue = new KeyedLock();
  readonly #removing = new Set<Promise<void>>();
  /** Undefined if the directory is missing or read-only. The first change then tries to lock the directory again. */
  #lock: DirectoryLock | undefined;

  constructor(options: { directory: string; remover: TreeRemover; log: Log }) {
    this.directory = options.directory;
    this.#folder = path.join(options.directory, stagingFolderName);
    this.#remover = options.remover;
    this.#log = options.log;
  }

  /** Creates a staging folder and returns the transaction for one change. */
  async begin(): Promise<Transaction> {
    await makeFolder(this.directory);
    if (!this.#isLocked()) throw inUse(this.directory);
    const folder = path.join(this.#folder, randomUUID());
    // Tries again if another change has deleted the folder `.staging` between these two calls.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await makeFolder(this.#folder, 0o700);
        await mkdir(folder, 0o700);
        return new Transaction({ area: this, folder });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT" && attempt < mostAttemptsToBegin) continue;
        // Deletes the folder `.staging` if the disk is full and the second folder cannot be created.
        this.#removeOwnFolderIfPossible();
        throw error;
      }
    }
  }

  /** Runs `work` while no other change of this directory runs. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run("", work);
  }

  /** Deletes a staging folder. Never throws. If the folder is large, does not wait for the end of the deletion. */
  discard(folder: string): Promise<void> {
    const removing = this.#remove(folder).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  /** Waits until the running deletions end. Does not wait for deletions of large folders. */
  async settled(): Promise<void> {
    while (this.#removing.size > 0) await Promise.all(this.#removing);
  }

  /**
   * Locks the directory for the life of this object, and handles interrupted changes: completes changes with a journal, deletes staging
   * folders without a journal. Call it before the first read of the directory. Throws DirectoryInUseError.
   */
  async recover(): Promise<void> {
    try {
      if (!this.#isLocked()) throw new DirectoryInUseError(inUse(this.directory).message);
      const names = this.#staged();
      // Deletes an empty folder `.staging`. A crash between the creation of two folders can leave it.
      if (names.length === 0) this.#removeOwnFolderIfPossible();
      for (const folder of names.map((name) => path.join(this.#folder, name))) {
        const journal = readJournal(folder);
        if (!journal || (await this.#finish(folder, journal))) void this.discard(folder);
      }
    } catch (error) {
      if (error instanceof DirectoryInUseError) throw error;
      // Ignores the error if there is no interrupted change, because the directory can be read-only.
      if (this.#staged().length === 0) return;
      this.#log.warn(
        { err: error, directory: this.directory },
        "package changes that a crash interrupted could not be finished; check the permissions of the directory, then restart",
      );
    }
  }

  /** Unlocks the directory after the running change. The next start deletes the remaining staging folders. */
  async close(): Promise<void> {
    await this.#queue.run("", async () => this.#lock?.release());
  }

  /** Locks the directory unless it is locked. Returns false if another process uses the directory. */
  #isLocked(): boolean {
    if (this.#lock?.isEffective === true) return true;
    this.#lock?.release();
    this.#lock = undefined;
    this.#lock = DirectoryLock.take(this.directory);
    return this.#lock !== undefined;
  }

  #staged(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }

  async #finish(folder: string, journal: Journal): Promise<boolean> {
    try {
      await rollForward(this.directory, journal);
      removeJournal(folder);
      this.#log.info({ folder, journal }, "finished a change that a crash had interrupted");
      return true;
    } catch (error) {
      this.#log.error({ err: error, folder, journal }, "an interrupted change could not be finished; its staging folder is kept");
      return false;
    }
  }

  async #remove(folder: string): Promise<void> {
    try {
      const isGone = await this.#persist(folder, () => removeTree(folder, mostEntriesDeletedHere));
      if (isGone) this.#removeOwnFolder();
      else void this.#removeLarge(folder);
    } catch (error) {
      this.#logLeftover(folder, error);
    }
  }

  async #removeLarge(folder: string): Promise<void> {
    try {
      await this.#persist(folder, () => this.#remover.remove(folder));
      if (!this.#remover.isClosed) this.#removeOwnFolder();
    } catch (error) {
      this.#logLeftover(folder, error);
    }
  }

  /** Deletes the folder `.staging` if it is empty. */
  #removeOwnFolder(): void {
    try {
      rmdirSync(this.#folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
    }
  }

  #removeOwnFolderIfPossible(): void {
    try {
      this.#removeOwnFolder();
    } catch (error) {
      this.#logLeftover(this.#folder, error);
    }
  }

  /**
   * Tries again if the deletion fails because the folder is not empty. After a crash of the daemon, an unpacker can still write to the
   * folder for some seconds.
   */
  async #persist<Result>(folder: string, remove: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await remove();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || attempt === mostRemovals || !existsSync(folder)) throw error;
        await delay(removalPauseMs);
      }
    }
  }

  #logLeftover(folder: string, error: unknown): void {
    this.#log.warn({ err: error, folder }, "a staging folder could not be deleted; the next start tries again");
  }
}

/** Creates a missing folder. Does not use the recursive mkdir of Node.js, which reports a missing folder if the disk is full. */
async function makeFolder(folder: string, mode?: number): Promise<void> {
  await mkdir(folder, mode).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}

function inUse(directory: string): ApiError {
  return new ApiError(
    "STORAGE_NOT_WRITABLE",
    `Another process uses the package directory ${directory}. Stop that process, or use another directory. If daemons of an earlier version shared this directory, stop all these daemons, then run: runtimectl daemon migrate-packages`,
  );
}
