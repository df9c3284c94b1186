import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmdirSync } from "node:fs";
import { lstat, mkdir, readdir, unlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../observe/log.js";
import { KeyedLock } from "./keyed-lock.js";
import { journalFileName, rollForward, type Journal } from "./move-journal.js";
import { removeTree } from "./remove-tree.js";
import { StagedFolder } from "./staged-folder.js";
import type { TreeRemover } from "./tree-remover.js";

const stagingFolderName = ".staging";
const mostRemovals = 100;
const removalPauseMs = 100;
/** A folder with more in it is deleted by a process of its own. */
const mostEntriesDeletedHere = 100;

/**
 * Where the changes to one directory of packages are prepared: its folder `.staging`, which is on the same file system, so that
 * a rename makes them visible. Whatever lies there after a crash is finished or undone by `recover`.
 */
export class StagingArea {
  /** The directory whose packages change. */
  readonly directory: string;
  readonly #folder: string;
  readonly #log: Log;
  readonly #remover: TreeRemover;
  readonly #moves = new KeyedLock();
  readonly #removing = new Set<Promise<void>>();

  constructor(options: { directory: string; remover: TreeRemover; log: Log }) {
    this.directory = options.directory;
    this.#folder = path.join(options.directory, stagingFolderName);
    this.#remover = options.remover;
    this.#log = options.log;
  }

  /** A new folder for one change. */
  async begin(): Promise<StagedFolder> {
    const folder = path.join(this.#folder, randomUUID());
    await makeFolder(this.directory);
    // The parent goes away when the last change is done, perhaps right now.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await makeFolder(this.#folder, 0o700);
        await mkdir(folder, 0o700);
        return new StagedFolder({ area: this, folder });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT" && attempt < 5) continue;
        // The disk may have had room for one of the two.
        this.#removeOwnFolderIfPossible();
        throw error;
      }
    }
  }

  /** Runs what moves folders of this directory, one at a time: two packages may share a scope's folder. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#moves.run("", work);
  }

  /** Deletes a staged folder and what it still holds; never throws, and does not wait for much that is in there. */
  discard(folder: string): Promise<void> {
    const removing = this.#remove(folder).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  /** Waits for the deletions that are under way, but for those of large folders. */
  async settled(): Promise<void> {
    while (this.#removing.size > 0) await Promise.all(this.#removing);
  }

  /**
   * Finishes or undoes what a crash left, before anything is read from the directory: a journal means that all was prepared and
   * the moves had begun or were about to, so they are done; without one, nothing had changed yet or all is done.
   */
  async recover(): Promise<void> {
    const names = await this.#leftovers();
    // Killed between the area's own folder and the first one in it, or between the last one and its own.
    if (names.length === 0) this.#removeOwnFolderIfPossible();
    for (const name of names) {
      const folder = path.join(this.#folder, name);
      const journal = readJournal(folder);
      if (!journal || (await this.#finish(folder, journal))) void this.discard(folder);
    }
  }

  async #finish(folder: string, journal: Journal): Promise<boolean> {
    try {
      await rollForward(this.directory, journal);
      this.#log.info({ folder, journal }, "finished a change that a crash had interrupted");
      return true;
    } catch (error) {
      this.#log.error({ err: error, folder, journal }, "an interrupted change could not be finished; its staging folder is kept");
      return false;
    }
  }

  async #leftovers(): Promise<string[]> {
    const stat = await lstat(this.#folder).catch(() => undefined);
    return stat?.isDirectory() ? await readdir(this.#folder) : [];
  }

  async #remove(folder: string): Promise<void> {
    try {
      // From here on a crash does not finish the change again.
      await unlink(path.join(folder, journalFileName)).catch(() => undefined);
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
      if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
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

function readJournal(folder: string): Journal | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, journalFileName), "utf8")) as Journal;
  } catch {
    // Not there, or cut off by a crash before the first move.
    return undefined;
  }
}
