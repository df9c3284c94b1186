import { closeSync, existsSync, openSync, readdirSync, rmSync, mkdirSync } from "node:fs";
import path from "node:path";
import { ProcessLock } from "../../platform/process-lock.js";
import { randomBytes } from "node:crypto";

const suffix = ".instance";

/** In a directory of packages: what the instances that have it open know of each other. */
const instancesFolderName = ".instances";

/** Which instances have a directory open: each holds a file that says so for as long as it lives. */
export class PeerRegistry {
  readonly #folder: string;
  readonly #instance: string;
  #own: ProcessLock | undefined;

  constructor(options: { folder: string; instance: string }) {
    this.#folder = options.folder;
    this.#instance = options.instance;
  }

  /** Whether the others can see this instance: not before `join`, nor when somebody has deleted its file. */
  get isJoined(): boolean {
    return this.#own !== undefined && existsSync(this.#fileOf(this.#instance));
  }

  /** To be called by who holds the directory: a file that nobody holds yet would look like that of a dead instance. */
  join(): void {
    this.#own?.release();
    this.#own = undefined;
    const file = this.#fileOf(this.#instance);
    // By a call whose error says what is wrong.
    closeSync(openSync(file, "a", 0o600));
    this.#own = ProcessLock.take(file);
  }

  isAlive(instance: string): boolean {
    return instance === this.#instance || ProcessLock.isHeld(this.#fileOf(instance));
  }

  /** Those that are there besides this one, alive as far as is known. */
  others(): string[] {
    return marksIn(this.#folder).filter((instance) => instance !== this.#instance);
  }

  /** Deletes the files of those that ended without having done so. To be called by who holds the directory. */
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

/** In names of files; never given twice. */
export function newInstanceName(): string {
  return randomBytes(8).toString("hex");
}

/** Makes the file that is locked, by calls whose errors say what is wrong; the directory itself is not made. */
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

/** Whether a daemon has a directory of packages open. */
function isInUse(directory: string): boolean {
  const { folder } = instancesPaths(directory);
  const marks = new PeerRegistry({ folder, instance: newInstanceName() });
  return marks.others().some((instance) => marks.isAlive(instance));
}

/** Has a directory of packages open while no daemon does; one that starts meanwhile knows that it is not alone. */
export class ExclusiveAccess {
  readonly #marks: PeerRegistry;

  /** Undefined when a daemon has it open. Makes what is missing for that; `onMade` is told of each path. */
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
