import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { ProcessLock } from "../../platform/process-lock.js";
import { ChangeLog, type ChangeFollower, type PeerChange } from "./change-log.js";
import { PeerRegistry, instancesPaths, newInstanceName, prepareLock } from "./peer-registry.js";

/**
 * Maximum time that a change waits for the lock of the directory. Then the change fails. Another daemon holds the lock for so long only if
 * its disk or process hangs.
 */
const longestWaitMs = 10_000;
const shortestPauseMs = 5;
const longestPauseMs = 25;
const retryAfterSeconds = 5;

/** A package directory that several daemons use. The daemons run on this machine or on other machines with the same volume. */
export class SharedDirectory {
  /** Identifier of this daemon in file names. */
  readonly instance = newInstanceName();
  readonly marks: PeerRegistry;
  readonly #directory: string;
  readonly #lockFile: string;
  readonly #changes: ChangeLog;
  readonly #follower: ChangeFollower;
  readonly #log: Log;
  #isReadable = true;

  constructor(options: { directory: string; follower: ChangeFollower; log: Log }) {
    const { folder, lockFile, changesFile } = instancesPaths(options.directory);
    this.#directory = options.directory;
    this.#lockFile = lockFile;
    this.marks = new PeerRegistry({ folder, instance: this.instance });
    this.#changes = new ChangeLog({ file: changesFile, instance: this.instance });
    this.#follower = options.follower;
    this.#log = options.log;
  }

  /** Skips all changes that the change log contains now, because the caller then reads all packages. */
  skipEarlier(): void {
    this.#readChanges();
  }

  /** Runs `work` while this daemon holds the lock of the directory. Throws `DIRECTORY_BUSY` if the lock is not available within 10 s. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    const lock = await this.#take();
    try {
      return await this.#run(work);
    } finally {
      lock.release();
    }
  }

  /** Runs `work` while this daemon holds the lock of the directory. Does nothing if another daemon holds the lock. */
  async holdIfFree(work: () => Promise<void>): Promise<void> {
    const lock = this.#tryToTake();
    try {
      if (lock) await this.#run(work);
    } finally {
      lock?.release();
    }
  }

  /**
   * Reports a completed or uncertain change to other daemons. The caller must hold the lock. Never throws, because other daemons also find
   * the change by checking the folders.
   */
  tell(change: PeerChange): void {
    try {
      this.#changes.append(change);
    } catch (error) {
      this.#log.warn({ err: error }, "other instances could not be told of a change; they will notice it later");
    }
  }

  /** Reports an interrupted change of a stopped daemon to all daemons, including this daemon. */
  tellAll(change: PeerChange): void {
    this.tell(change);
    this.#follow(() => this.#follower.follow([change]));
  }

  /** Reads the changes of other daemons. If there are none, this takes one system call. */
  catchUp(): void {
    const { changes, hasGap } = this.#readChanges();
    if (hasGap) this.#follow(() => this.#follower.missed());
    else if (changes.length > 0) this.#follow(() => this.#follower.follow(changes));
  }

  leave(): void {
    this.marks.leave();
  }

  #follow(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#log.warn({ err: error }, "what another instance has changed could not be read");
    }
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!this.marks.isJoined) this.marks.join();
    this.catchUp();
    return await work();
  }

  async #take(): Promise<ProcessLock> {
    const giveUpAtMs = performance.now() + longestWaitMs;
    for (;;) {
      const lock = this.#tryToTake();
      if (lock) return lock;
      if (performance.now() > giveUpAtMs) throw busy();
      // Waits for a random time, so that several waiting daemons do not all try to get the lock at the same moment.
      await delay(shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs));
    }
  }

  #tryToTake(): ProcessLock | undefined {
    prepareLock(this.#directory);
    return ProcessLock.take(this.#lockFile);
  }

  #readChanges(): ReturnType<ChangeLog["read"]> {
    try {
      const read = this.#changes.read();
      this.#isReadable = true;
      return read;
    } catch (error) {
      if (this.#isReadable) this.#log.warn({ err: error }, "what other instances change cannot be read; their changes are noticed later");
      this.#isReadable = false;
      return { changes: [], hasGap: false };
    }
  }
}

function busy(): ApiError {
  return new ApiError(
    "DIRECTORY_BUSY",
    "Another daemon has been changing packages in this directory for 10 seconds. Nothing was changed. Retry. If the error persists, check for a daemon that hangs.",
    { retryAfterSeconds },
  );
}
