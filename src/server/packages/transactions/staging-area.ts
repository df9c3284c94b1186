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
/** A folder with more in it is deleted by a process of its own. */
const mostEntriesDeletedHere = 100;
const mostAttemptsToBegin = 50;
/**
 * How long what was replaced or removed stays when other instances have the directory open: their isolates of the old code read from it
 * until their calls have ended, and nobody tells when that is.
 */
const keptForOthersMs = 60_000;

/**
 * Where the changes to one directory of packages are prepared: its folder `.staging`, which is on the same file system, so that
 * a rename makes them visible. What an instance leaves there that ended before its time, another one finishes or deletes.
 */
export class StagingArea {
  /** The directory whose packages change. */
  readonly directory: string;
  readonly #folder: string;
  readonly #log: Log;
  readonly #remover: TreeRemover;
  readonly #shared: SharedDirectory;
  readonly #queue = new KeyedLock();
  readonly #removing = new Set<Promise<void>>();
  /** Of other instances: what is being deleted here, or cannot be finished. */
  readonly #takenOver = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: { directory: string; follower: ChangeFollower; remover: TreeRemover; log: Log }) {
    this.directory = options.directory;
    this.#folder = path.join(options.directory, stagingFolderName);
    this.#remover = options.remover;
    this.#log = options.log;
    this.#shared = new SharedDirectory(options);
    // Every folder that is kept for others waits on it.
    setMaxListeners(0, this.#closing.signal);
  }

  /** A new folder for one change. */
  async begin(): Promise<Transaction> {
    await makeFolder(this.directory);
    // Else another instance would take the folder for one that was left behind.
    if (!this.#shared.marks.isJoined) await this.exclusively(() => Promise.resolve());
    const folder = path.join(this.#folder, stagedName(this.#shared.instance, randomUUID()));
    // The parent goes away when the last change is done, perhaps right now.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await makeFolder(this.#folder, 0o700);
        await mkdir(folder, 0o700);
        return new Transaction({ area: this, folder });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT" && attempt < mostAttemptsToBegin) continue;
        // The disk may have had room for one of the two.
        this.#removeOwnFolderIfPossible();
        throw error;
      }
    }
  }

  /**
   * Runs a change of this directory, one at a time of all instances that have it; what they have changed is known by then, and what one
   * of them has left half done is finished. Throws `DIRECTORY_BUSY` when another one holds it for too long.
   */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run("", () =>
      this.#shared.hold(async () => {
        await this.#finishInterrupted();
        return await work();
      }),
    );
  }

  /** Tells other instances of a change; only within `exclusively`. */
  tell(change: PeerChange): void {
    this.#shared.tell(change);
  }

  /** Follows what other instances have changed. */
  catchUp(): void {
    this.#shared.catchUp();
  }

  /** Deletes a staged folder and what it still holds; never throws, and does not wait for much that is in there. */
  discard(folder: string): Promise<void> {
    if (this.#shared.marks.others().length > 0 && holdsOldContent(folder)) return this.#discardLater(folder);
    const removing = this.#remove(folder).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  /** Waits for the deletions that are under way, but for those of large folders. */
  async settled(): Promise<void> {
    while (this.#removing.size > 0) await Promise.all(this.#removing);
  }

  /**
   * Finishes or undoes what a crash left, before anything is read from the directory, and lets other instances know of this one: a journal
   * means that all was prepared and the moves had begun or were about to, so they are done; without one, nothing had changed yet or all
   * is done. What an instance that lives is doing stays as it is.
   */
  async recover(): Promise<void> {
    this.#shared.skipEarlier();
    try {
      await this.exclusively(async () => this.#takeOver({ isStart: true }));
    } catch (error) {
      // Nothing can be changed here, and nothing was.
      if (this.#staged().length === 0) return;
      this.#log.warn({ err: error, directory: this.directory }, "what a crash has left of changes to packages here could not be finished");
    }
  }

  /** Does the same, once it runs, for other instances that have ended; at once when there is nothing to do. */
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

  /** What is not deleted yet goes when another instance sees it, or at the next start. */
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

  /** Only what somebody else holds no more can have a journal now. */
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
    // Killed between the area's own folder and the first one in it, or between the last one and its own.
    if (names.length === 0) this.#removeOwnFolderIfPossible();
    for (const name of names) {
      const folder = path.join(this.#folder, name);
      // One that is decided and not done needs it still, unless it was of the daemon that starts, which has finished it.
      if (isOfRestore(name) && !(isStart && isAlone)) continue;
      if (this.#takenOver.has(name) || this.#shared.marks.isAlive(instanceOf(name))) continue;
      this.#takenOver.add(name);
      void this.discard(folder).then(() => this.#takenOver.delete(name));
    }
  }

  /** Nobody waits for this. */
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

  /** The area's own folder goes with the last change in it. */
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

  /** After a crash, a process that was unpacking may write until it notices that nobody waits for it: on a busy machine, seconds. */
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

/** Not by the recursive mkdir of Node, which says of a full disk that the folder is missing. */
async function makeFolder(folder: string, mode?: number): Promise<void> {
  await mkdir(folder, mode).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
}
