import { closeSync, constants, existsSync, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats } from "node:fs";
import { ApiError } from "../../../shared/api-error.js";

const descriptors = "/proc/self/fd";
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opening follows no link and does not wait for the writer of a named pipe. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const folderMode = 0o755;

/**
 * A folder held by its descriptor. Operations on `pathOf` affect this folder even if its path now names another one, so no change between a
 * check and its use can lead outside. Must be closed.
 */
export class DirectoryHandle {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Opens a folder below a directory of the operator, segment by segment. `isMade` creates missing folders. */
  static open(directory: string, segments: readonly string[], options: { isMade?: boolean } = {}): DirectoryHandle {
    if (!existsSync(descriptors)) {
      throw new ApiError("FILES_UNAVAILABLE", "Files cannot be managed here: this system has no /proc. Upload whole packages instead.");
    }
    let inner = new DirectoryHandle(openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY));
    const outer: DirectoryHandle[] = [];
    const made: string[] = [];
    try {
      for (const segment of segments) {
        outer.push(inner);
        const isNew = options.isMade === true && inner.#makeFolder(segment);
        if (isNew) made.push(inner.pathOf(segment));
        inner = inner.enter(segment);
        // Isolates can run as other users and must be able to read it, regardless of the daemon's umask.
        if (isNew) fchmodSync(inner.#descriptor, folderMode);
      }
      return inner;
    } catch (error) {
      // A full disk can have had room for some of the folders.
      for (const folder of made.toReversed()) rmdirSync(folder);
      throw error;
    } finally {
      for (const folder of outer) folder.close();
    }
  }

  /** Throws ELOOP for a link, and ENOTDIR for other entries that are not folders. */
  enter(name: string): DirectoryHandle {
    try {
      return new DirectoryHandle(openSync(this.pathOf(name), folderFlags));
    } catch (error) {
      // Linux reports ENOTDIR for both.
      if (!this.stat(name)?.isSymbolicLink()) throw error;
      throw Object.assign(new Error("a link is not followed", { cause: error }), { code: "ELOOP" });
    }
  }

  /** Valid until the handle is closed. */
  get path(): string {
    return `${descriptors}/${this.#descriptor}`;
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Returns the entry's own status, also for a link; undefined when it is missing. */
  stat(name: string): Stats | undefined {
    return lstatSync(this.pathOf(name), { throwIfNoEntry: false });
  }

  /** Returns a descriptor of a regular file, which the caller must close; undefined for other entries. */
  openFile(name: string): number | undefined {
    const descriptor = openSync(this.pathOf(name), fileFlags);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
    return undefined;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Returns whether the folder was missing. */
  #makeFolder(name: string): boolean {
    try {
      mkdirSync(this.pathOf(name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  }
}

/** Runs `work` on a folder and closes the folder afterwards. */
export function inDirectoryHandle<Result>(folder: DirectoryHandle, work: (folder: DirectoryHandle) => Result): Result {
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}
