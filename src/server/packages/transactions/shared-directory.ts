import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { ProcessLock } from "../../platform/process-lock.js";
import { ChangeLog, type ChangeFollower, type PeerChange } from "./change-log.js";
import { PeerRegistry, instancesPaths, newInstanceName, prepareLock } from "./peer-registry.js";

/** Maximum wait for the directory's lock. Afterwards the change fails, because a lock is held this long only if a disk or process hangs. */
const longestWaitMs = 10_000;
const shortestPauseMs = 5;
const longestPauseMs = 25;
const retryAfterSeconds = 5;

/** A package directory that several daemons use, on this machine or on other machines with the same volume. */
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

  /** Skips the changes that are already in the change log, because the caller reads all packages afterwards. */
  skipEarlier(): void {
    this.#readChanges();
  }

  /** Runs `work` while no other daemon changes the directory. Throws `DIRECTORY_BUSY` after waiting for 10 s. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    const lock = await this.#take();
    try {
      return await this.#run(work);
    } finally {
      lock.release();
    }
  }

  /** Runs `work` under the lock like `hold`. Does nothing when another daemon holds the lock. */
  async holdIfFree(work: () => Promise<void>): Promise<void> {
    const lock = this.#tryToTake();
    try {
      if (lock) await this.#run(work);
    } finally {
      lock?.release();
    }
  }

  /**
   * Reports a completed or uncertain change to other daemons. The caller must hold the lock. Never throws, because other daemons also check
   * the folders.
   */
  tell(change: PeerChange): void {
    try {
      this.#changes.append(change);
    } catch (error) {
      this.#log.warn({ err: error }, "other instances could not be told of a change; they will notice it later");
    }
  }

  /** Reports the interrupted change of another daemon to all daemons, including this one. */
  tellAll(change: PeerChange): void {
    this.tell(change);
    this.#follow(() => this.#follower.follow([change]));
  }

  /** Reads the changes of other daemons. Takes one system call if there are none. */
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
      // Uses a random delay, so that waiting daemons do not try again at the same time.
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
