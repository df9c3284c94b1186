import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.js";
import { KeyedLock } from "../../platform/keyed-lock.js";
import { readJournal, removeJournal, rollForward, holdsOldContent, instanceOf, isOfRestore, stagedName, type Journal } from "./journal.js";
import { removeTree, type TreeRemover } from "../../platform/remove-folder.js";
import type { ChangeFollower, PeerChange } from "./change-log.js";
import { SharedDirectory } from "./shared-directory.js";
import { Transaction } from "./transaction.js";

const stagingFolderName = ".staging";
const mostRemovals = 100;
const removalPauseMs = 100;
/** Maximum number of entries in a folder that the daemon itself deletes. A separate process deletes larger folders. */
const mostEntriesDeletedHere = 100;
const mostAttemptsToBegin = 50;
/**
 * Time in ms for which the daemon keeps replaced folders if other daemons use the directory. The isolates of these daemons read from the
 * folders until their calls end.
 */
const keptForOthersMs = 60_000;

/**
 * The folder `.staging` of a package directory. Changes are prepared in this folder and become visible by a rename. After a daemon has
 * stopped, other daemons complete or delete its changes.
 */
export class StagingArea {
  /** The package directory that contains this staging area. */
  readonly directory: string;
  readonly #folder: string;
  readonly #log: Log;
  readonly #remover: TreeRemover;
  readonly #shared: SharedDirectory;
  readonly #queue = new KeyedLock();
  readonly #removing = new Set<Promise<void>>();
  /** Staging folders of other daemons. This daemon is deleting them, or cannot complete their changes. */
  readonly #takenOver = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: { directory: string; follower: ChangeFollower; remover: TreeRemover; log: Log }) {
    this.directory = options.directory;
    this.#folder = path.join(options.directory, stagingFolderName);
    this.#remover = options.remover;
    this.#log = options.log;
    this.#shared = new SharedDirectory(options);
    // Disables the warning of Node.js about more than 10 listeners. Each delayed deletion of a folder adds one listener.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Creates a staging folder and returns the transaction for one change. */
  async begin(): Promise<Transaction> {
    await makeFolder(this.directory);
    // Registers this daemon by a call of `exclusively`. Otherwise another daemon would delete the folder as a leftover of a crash.
    if (!this.#shared.marks.isJoined) await this.exclusively(() => Promise.resolve());
    const folder = path.join(this.#folder, stagedName(this.#shared.instance, randomUUID()));
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

  /**
   * Runs `work` while this daemon holds the lock of the directory. First reads the changes of other daemons and completes interrupted
   * changes. Throws `DIRECTORY_BUSY` if another daemon holds the lock for 10 s.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run("", () =>
      this.#shared.hold(async () => {
        await this.#finishInterrupted();
        return await work();
      }),
    );
  }

  /** Reports a change to other daemons. Call this function only within `exclusively`. */
  tell(change: PeerChange): void {
    this.#shared.tell(change);
  }

  /** Reads the changes that other daemons have reported. */
  catchUp(): void {
    this.#shared.catchUp();
  }

  /** Deletes a staging folder. Never throws. If the folder is large, does not wait for the end of the deletion. */
  discard(folder: string): Promise<void> {
    if (this.#shared.marks.others().length > 0 && holdsOldContent(folder)) return this.#discardLater(folder);
    const removing = this.#remove(folder).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  /** Waits until the running deletions end. Does not wait for deletions of large folders. */
  async settled(): Promise<void> {
    while (this.#removing.size > 0) await Promise.all(this.#removing);
  }

  /**
   * Registers this daemon and handles interrupted changes: completes changes with a journal, deletes staging folders without a journal, and
   * keeps changes of running daemons. Call it before the first read of the directory.
   */
  async recover(): Promise<void> {
    this.#shared.skipEarlier();
    try {
      await this.exclusively(async () => this.#takeOver({ isStart: true }));
    } catch (error) {
      // Ignores the error if there is no interrupted change, because the directory can be read-only.
      if (this.#staged().length === 0) return;
      this.#log.warn(
        { err: error, directory: this.directory },
        "package changes that a crash interrupted could not be finished; check the permissions of the directory, then restart",
      );
    }
  }

  /** Completes or deletes the interrupted changes of stopped daemons. If there are none, resolves immediately. */
  async tidyUp(): Promise<void> {
    const isForeign = (name: string) => instanceOf(name) !== this.#shared.instance && !this.#takenOver.has(name) && !isOfRestore(name);
    if (!this.#staged().some(isForeign)) return;
    await this.#queue.run("", () =>
      this.#shared.holdIfFree(async () => {
        await this.#finishInterrupted();
        this.#takeOver({ isStart: false });
      }),
    );
  }

  /** Removes this daemon from the registry. Another daemon or the next start deletes the remaining staging folders. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue.run("", async () => this.#shared.leave());
  }

  #staged(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }

  /**
   * Completes the interrupted changes of other daemons. While this daemon holds the lock, no other change runs, so every journal belongs to
   * an interrupted change.
   */
  async #finishInterrupted(): Promise<void> {
    for (const name of this.#staged()) {
      if (instanceOf(name) === this.#shared.instance || this.#takenOver.has(name)) continue;
      const folder = path.join(this.#folder, name);
      const journal = readJournal(folder);
      if (journal && !(await this.#finish(folder, journal))) this.#takenOver.add(name);
    }
  }

  async #finish(folder: string, journal: Journal): Promise<boolean> {
    try {
      await rollForward(this.directory, journal);
      if (journal.change) this.#shared.tellAll(journal.moves.length > 0 ? journal.change : { ...journal.change, isUncertain: true });
      removeJournal(folder);
      this.#log.info({ folder, journal }, "finished a change that a crash had interrupted");
      return true;
    } catch (error) {
      this.#log.error({ err: error, folder, journal }, "an interrupted change could not be finished; its staging folder is kept");
      return false;
    }
  }

  #takeOver({ isStart }: { isStart: boolean }): void {
    this.#shared.marks.forgetDead();
    const isAlone = this.#shared.marks.others().length === 0;
    const names = this.#staged();
    // Deletes an empty folder `.staging`. A crash between the creation of two folders can leave it.
    if (names.length === 0) this.#removeOwnFolderIfPossible();
    for (const name of names) {
      const folder = path.join(this.#folder, name);
      // Keeps the folder of a restore, because the restore still needs it. Deletes the folder only at the start of a daemon without peers,
      // which has then completed the restore.
      if (isOfRestore(name) && !(isStart && isAlone)) continue;
      if (this.#takenOver.has(name) || this.#shared.marks.isAlive(instanceOf(name))) continue;
      this.#takenOver.add(name);
      void this.discard(folder).then(() => this.#takenOver.delete(name));
    }
  }

  /** Deletes a staging folder after 60 s, in the background. `close` cancels this. */
  async #discardLater(folder: string): Promise<void> {
    try {
      await delay(keptForOthersMs, undefined, { ref: false, signal: this.#closing.signal });
    } catch {
      return;
    }
    await this.#remove(folder);
  }

  async #remove(folder: string): Promise<void> {
    try {
      const isGone = await this.#persist(folder, () => removeTree(folder, mostEntriesDeletedHere));
      if (isGone) this.#removeOwnFolder();
      else void this.#removeLarge(folder);
    } catch (error) {
      this.#tellOfRest(folder, error);
    }
  }

  async #removeLarge(folder: string): Promise<void> {
    try {
      await this.#persist(folder, () => this.#remover.remove(folder));
      if (!this.#remover.isClosed) this.#removeOwnFolder();
    } catch (error) {
      this.#tellOfRest(folder, error);
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
      this.#tellOfRest(this.#folder, error);
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

  #tellOfRest(folder: string, error: unknown): void {
    this.#log.warn({ err: error, folder }, "a staging folder could not be deleted; the next start tries again");
  }
}

/** Creates a missing folder. Does not use the recursive mkdir of Node.js, which reports a missing folder if the disk is full. */
async function makeFolder(folder: string, mode?: number): Promise<void> {
  await mkdir(folder, mode).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}
