import { closeSync, existsSync, openSync, readdirSync, rmSync, mkdirSync } from "node:fs";
import path from "node:path";
import { ProcessLock } from "../../platform/process-lock.js";
import { randomBytes } from "node:crypto";

const suffix = ".instance";

/** Folder in each package directory that contains the lock files and the change log of the daemons. */
const instancesFolderName = ".instances";

/** Registry of the daemons that use a package directory. Each daemon has a file and locks that file while it runs. */
export class PeerRegistry {
  readonly #folder: string;
  readonly #instance: string;
  #own: ProcessLock | undefined;

  constructor(options: { folder: string; instance: string }) {
    this.#folder = options.folder;
    this.#instance = options.instance;
  }

  /** True if other daemons can detect this daemon by its lock file. False before `join`, and after a deletion of the lock file. */
  get isJoined(): boolean {
    return this.#own !== undefined && existsSync(this.#fileOf(this.#instance));
  }

  /**
   * Registers this daemon. The caller must hold the lock of the directory. Otherwise another daemon could find the file before it is locked
   * and delete it.
   */
  join(): void {
    this.#own?.release();
    this.#own = undefined;
    const file = this.#fileOf(this.#instance);
    // Opens the file before the lock attempt, because only the error of `openSync` names the cause.
    closeSync(openSync(file, "a", 0o600));
    this.#own = ProcessLock.take(file);
  }

  isAlive(instance: string): boolean {
    return instance === this.#instance || ProcessLock.isHeld(this.#fileOf(instance));
  }

  /** Returns the identifiers of all other daemons with a file in the registry. Includes daemons that have stopped. */
  others(): string[] {
    return marksIn(this.#folder).filter((instance) => instance !== this.#instance);
  }

  /** Deletes the files of daemons that have stopped. The caller must hold the lock of the directory. */
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

/** Returns a new random identifier for a daemon. File names contain the identifier. */
export function newInstanceName(): string {
  return randomBytes(8).toString("hex");
}

/** Creates the lock file of a package directory. Uses functions whose errors name the cause. Does not create the package directory. */
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

/**
 * Registration of a program that changes a package directory while no daemon uses the directory. A daemon that starts meanwhile detects it.
 */
export class ExclusiveAccess {
  readonly #marks: PeerRegistry;

  /**
   * Registers in the directory. Returns undefined if a daemon uses the directory. Creates a missing lock file and its folder, and passes
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
