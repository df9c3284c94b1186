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
/** Maximum number of entries in a folder that the daemon deletes itself. A separate process deletes larger folders. */
const mostEntriesDeletedHere = 100;
const mostAttemptsToBegin = 50;
/**
 * Time for which replaced folders are kept if other daemons use the directory. The isolates of these daemons read the folders until their
 * calls end.
 */
const keptForOthersMs = 60_000;

/**
 * The folder `.staging` of a package directory, in which changes are prepared. A rename in the same file system makes a change visible.
 * Other daemons complete or delete the leftovers of a stopped daemon.
 */
export class StagingArea {
  /** The package directory. */
  readonly directory: string;
  readonly #folder: string;
  readonly #log: Log;
  readonly #remover: TreeRemover;
  readonly #shared: SharedDirectory;
  readonly #queue = new KeyedLock();
  readonly #removing = new Set<Promise<void>>();
  /** Staging folders of other daemons that this daemon is deleting or cannot complete. */
  readonly #takenOver = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: { directory: string; follower: ChangeFollower; remover: TreeRemover; log: Log }) {
    this.directory = options.directory;
    this.#folder = path.join(options.directory, stagingFolderName);
    this.#remover = options.remover;
    this.#log = options.log;
    this.#shared = new SharedDirectory(options);
    // Allows any number of listeners (0), because each delayed deletion of a folder adds one. Node.js would warn above 10.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Creates a staging folder for one change. */
  async begin(): Promise<Transaction> {
    await makeFolder(this.directory);
    // `exclusively` registers this daemon. Otherwise another daemon would delete the folder as a leftover of a crash.
    if (!this.#shared.marks.isJoined) await this.exclusively(() => Promise.resolve());
    const folder = path.join(this.#folder, stagedName(this.#shared.instance, randomUUID()));
    // Repeats the attempt if another change has deleted the folder `.staging` between the two calls.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await makeFolder(this.#folder, 0o700);
        await mkdir(folder, 0o700);
        return new Transaction({ area: this, folder });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT" && attempt < mostAttemptsToBegin) continue;
        // Deletes the first of the two folders if a full disk prevented the creation of the second.
        this.#removeOwnFolderIfPossible();
        throw error;
      }
    }
  }

  /**
   * Runs `work` while no other daemon changes the directory. First reads the changes of other daemons and completes interrupted changes.
   * Throws `DIRECTORY_BUSY` if another daemon holds the lock for 10 s.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run("", () =>
      this.#shared.hold(async () => {
        await this.#finishInterrupted();
        return await work();
      }),
    );
  }

  /** Reports a change to other daemons. Call it only within `exclusively`. */
  tell(change: PeerChange): void {
    this.#shared.tell(change);
  }

  /** Reads the changes of other daemons. */
  catchUp(): void {
    this.#shared.catchUp();
  }

  /** Deletes a staging folder. Never throws. Does not wait for the deletion of large folders. */
  discard(folder: string): Promise<void> {
    if (this.#shared.marks.others().length > 0 && holdsOldContent(folder)) return this.#discardLater(folder);
    const removing = this.#remove(folder).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  /** Waits for running deletions, except those of large folders. */
  async settled(): Promise<void> {
    while (this.#removing.size > 0) await Promise.all(this.#removing);
  }

  /**
   * Registers this daemon and recovers from a crash: completes the renames in a journal, and deletes staging folders without a journal.
   * Keeps changes of running daemons. Call it before reading the package directory.
   */
  async recover(): Promise<void> {
    this.#shared.skipEarlier();
    try {
      await this.exclusively(async () => this.#takeOver({ isStart: true }));
    } catch (error) {
      // Ignores the error if there is no interrupted change, for example in a read-only directory.
      if (this.#staged().length === 0) return;
      this.#log.warn({ err: error, directory: this.directory }, "what a crash has left of changes to packages here could not be finished");
    }
  }

  /** Completes or deletes interrupted changes of stopped daemons. Resolves immediately if there are none. */
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
   * Completes interrupted changes of other daemons. While this daemon holds the lock, every journal on the disk belongs to an interrupted
   * change.
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
    // Deletes an empty folder `.staging`, which an interruption between two folder operations can leave.
    if (names.length === 0) this.#removeOwnFolderIfPossible();
    for (const name of names) {
      const folder = path.join(this.#folder, name);
      // Keeps the folder of a decided restore, which still needs it, unless this daemon has started without peers and completed the
      // restore.
      if (isOfRestore(name) && !(isStart && isAlone)) continue;
      if (this.#takenOver.has(name) || this.#shared.marks.isAlive(instanceOf(name))) continue;
      this.#takenOver.add(name);
      void this.discard(folder).then(() => this.#takenOver.delete(name));
    }
  }

  /** Deletes a staging folder after 60 s, in the background. `close` cancels the deletion. */
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
   * Repeats a deletion that fails because the folder is not empty. After a crash of the daemon, an unpacker can write for seconds until it
   * exits.
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

/** Creates a folder if it is missing. Node's recursive mkdir is not used, because it reports a missing folder when the disk is full. */
async function makeFolder(folder: string, mode?: number): Promise<void> {
  await mkdir(folder, mode).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}
