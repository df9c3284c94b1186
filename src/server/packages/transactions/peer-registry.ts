import { closeSync, existsSync, openSync, readdirSync, rmSync, mkdirSync } from "node:fs";
import path from "node:path";
import { ProcessLock } from "../../platform/process-lock.js";
import { randomBytes } from "node:crypto";

const suffix = ".instance";

/** Folder in a package directory for the lock files and the change log of the daemons. */
const instancesFolderName = ".instances";

/** Registry of the daemons that use a package directory. Each daemon locks its own file while it runs. */
export class PeerRegistry {
  readonly #folder: string;
  readonly #instance: string;
  #own: ProcessLock | undefined;

  constructor(options: { folder: string; instance: string }) {
    this.#folder = options.folder;
    this.#instance = options.instance;
  }

  /** True if other daemons can detect this daemon. False before `join` and after the deletion of its lock file. */
  get isJoined(): boolean {
    return this.#own !== undefined && existsSync(this.#fileOf(this.#instance));
  }

  /**
   * Registers this daemon. The caller must hold the directory's lock, because a file that is not locked yet looks like the file of a
   * stopped daemon.
   */
  join(): void {
    this.#own?.release();
    this.#own = undefined;
    const file = this.#fileOf(this.#instance);
    // `openSync` runs before the lock attempt, because its error names the cause.
    closeSync(openSync(file, "a", 0o600));
    this.#own = ProcessLock.take(file);
  }

  isAlive(instance: string): boolean {
    return instance === this.#instance || ProcessLock.isHeld(this.#fileOf(instance));
  }

  /** Returns the other registered daemons, including stopped daemons whose files still exist. */
  others(): string[] {
    return marksIn(this.#folder).filter((instance) => instance !== this.#instance);
  }

  /** Deletes the files of stopped daemons. The caller must hold the directory's lock. */
  forgetDead(): void {
    for (const instance of this.others()) if (!this.isAlive(instance)) rmSync(this.#fileOf(instance), { force: true });
  }

  leave(): void {
    if (this.#own) rmSync(this.#fileOf(this.#instance), { force: true });
    this.#own?.release();
    this.#own = undefined;
  }

  #fileOf(instance: string): string {
    return path.join(this.#folder, instance + suffix);
  }
}

function marksIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []));
  } catch {
    return [];
  }
}

export function instancesPaths(directory: string): { folder: string; lockFile: string; changesFile: string } {
  const folder = path.join(directory, instancesFolderName);
  return { folder, lockFile: path.join(folder, "lock"), changesFile: path.join(folder, "changes") };
}

/** Returns a random identifier of a daemon for file names. */
export function newInstanceName(): string {
  return randomBytes(8).toString("hex");
}

/** Creates the lock file of a package directory with calls whose errors name the cause. Does not create the package directory. */
export function prepareLock(directory: string): void {
  const { folder, lockFile } = instancesPaths(directory);
  if (existsSync(lockFile)) return;
  makeFolder(folder);
  closeSync(openSync(lockFile, "a", 0o600));
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Returns whether a running daemon uses a package directory. */
function isInUse(directory: string): boolean {
  const { folder } = instancesPaths(directory);
  const marks = new PeerRegistry({ folder, instance: newInstanceName() });
  return marks.others().some((instance) => marks.isAlive(instance));
}

/** Registration in a package directory that no daemon uses. A starting daemon detects the registration. */
export class ExclusiveAccess {
  readonly #marks: PeerRegistry;

  /**
   * Registers in the directory. Returns undefined if a daemon uses the directory. Creates a missing lock file and its folder, and reports
   * their paths to `onMade`.
   */
  static enter(directory: string, onMade: (made: readonly string[]) => void): ExclusiveAccess | undefined {
    const { folder, lockFile } = instancesPaths(directory);
    if (!existsSync(lockFile)) {
      prepareLock(directory);
      onMade([folder, lockFile]);
    }
    const lock = ProcessLock.take(lockFile);
    try {
      if (!lock || isInUse(directory)) return undefined;
      const marks = new PeerRegistry({ folder, instance: newInstanceName() });
      marks.join();
      return new ExclusiveAccess(marks);
    } finally {
      lock?.release();
    }
  }

  private constructor(marks: PeerRegistry) {
    this.#marks = marks;
  }

  leave(): void {
    this.#marks.leave();
  }
}
