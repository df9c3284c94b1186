import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { ProcessLock } from "../../platform/process-lock.js";

/** Folder in each package directory that contains the lock file. */
const folderName = ".instances";
/**
 * Suffix of the files that daemons of earlier versions lock while they run, and prefix of the files that list their changes. These versions
 * locked the directory itself only during a change, so several daemons could share the directory.
 */
const sharingSuffix = ".instance";
const sharedChanges = "changes";

/** Thrown by the start of a daemon if other daemons use or used a package directory. A restart does not solve this. */
export class DirectoryInUseError extends Error {}

/**
 * Lock on a package directory, which one daemon or one command holds while it runs. The kernel releases the lock when the process exits.
 */
export class DirectoryLock {
  readonly #lock: ProcessLock;
  readonly #file: string;

  /**
   * Locks a directory. Returns undefined if another process uses the directory. Creates a missing lock file and its folder, and passes
   * their paths to `onMade`. Does not create the directory.
   */
  static take(directory: string, onMade?: (made: readonly string[]) => void): DirectoryLock | undefined {
    const [folder, file] = lockPaths(directory);
    if (!existsSync(file)) {
      makeFolder(folder);
      // Creates the file before the lock attempt, because only the error of `openSync` names the cause.
      closeSync(openSync(file, "a", 0o600));
      onMade?.([folder, file]);
    }
    const lock = ProcessLock.take(file);
    if (!lock) return undefined;
    const marks = sharingFiles(directory).filter((each) => each.endsWith(sharingSuffix));
    if (!marks.some((each) => ProcessLock.isHeld(each))) return new DirectoryLock(lock, file);
    lock.release();
    return undefined;
  }

  private constructor(lock: ProcessLock, file: string) {
    this.#lock = lock;
    this.#file = file;
  }

  /**
   * True while the lock file exists. After a deletion of the lock file, this lock has no effect, because another process can lock a new
   * file.
   */
  get isEffective(): boolean {
    return existsSync(this.#file);
  }

  release(): void {
    this.#lock.release();
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Creates a missing folder. Does not create its parent, which can be a missing package directory. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Returns the folder of the lock file, and the lock file. */
export function lockPaths(directory: string): readonly [folder: string, file: string] {
  const folder = path.join(directory, folderName);
  return [folder, path.join(folder, "lock")];
}

/** Returns the files with which daemons of earlier versions shared the directory. */
function sharingFiles(directory: string): string[] {
  const folder = path.join(directory, folderName);
  return namesIn(folder)
    .filter((name) => name.endsWith(sharingSuffix) || name.startsWith(sharedChanges))
    .map((name) => path.join(folder, name));
}

/**
 * Throws DirectoryInUseError if daemons of an earlier version shared a directory. Only a daemon with a primary makes this check, because an
 * earlier daemon without a primary left the same files.
 */
export function assertNotShared(directories: readonly string[]): void {
  const shared = directories.find((directory) => sharingFiles(directory).length > 0);
  if (shared === undefined) return;
  throw new DirectoryInUseError(
    `${shared} belongs to daemons of an earlier version that shared it. Several daemons cannot share a directory now. Stop all of them, then run: runtimectl daemon migrate-packages`,
  );
}

/** Deletes the files of earlier versions. Call it while the directories are locked. Skips a directory that is not writable. */
export function deleteSharingFiles(directories: readonly string[]): void {
  for (const file of directories.flatMap(sharingFiles)) {
    try {
      rmSync(file);
    } catch {
      // Ignores the error, because the files have no effect for a daemon without a primary.
    }
  }
}
