import { closeSync, constants, existsSync, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats } from "node:fs";
import { ApiError } from "../../../shared/api-error.js";

const descriptors = "/proc/self/fd";
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Flags that open a regular file. A symbolic link causes an error, and a named pipe without a writer does not block. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const folderMode = 0o755;

/**
 * An open folder. All operations on `path` affect this folder, even if another folder gets its name meanwhile. A checked path can therefore
 * not lead out of the package later. The caller must close the handle.
 */
export class DirectoryHandle {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Opens a folder below a configured directory, one path segment at a time. If `isMade` is true, creates missing folders. */
  static open(directory: string, segments: readonly string[], options: { isMade?: boolean } = {}): DirectoryHandle {
    if (!existsSync(descriptors)) {
      throw new ApiError(
        "FILES_UNAVAILABLE",
        "Files cannot be managed on this system, because it has no /proc. Upload whole packages instead.",
      );
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
        // Sets the mode explicitly, because the daemon's umask could be too strict. Isolates with other user ids must be able to read the
        // folder.
        if (isNew) fchmodSync(inner.#descriptor, folderMode);
      }
      return inner;
    } catch (error) {
      // If opening fails later, for example because the disk is full, deletes the folders that this call has created.
      for (const folder of made.toReversed()) rmdirSync(folder);
      throw error;
    } finally {
      for (const folder of outer) folder.close();
    }
  }

  /** Opens a subfolder. Throws ELOOP if the entry is a link, and ENOTDIR if the entry is neither a link nor a folder. */
  enter(name: string): DirectoryHandle {
    try {
      return new DirectoryHandle(openSync(this.pathOf(name), folderFlags));
    } catch (error) {
      // Checks whether the entry is a link, because Linux reports ENOTDIR also for a link.
      if (!this.stat(name)?.isSymbolicLink()) throw error;
      throw Object.assign(new Error("a link is not followed", { cause: error }), { code: "ELOOP" });
    }
  }

  /** Path of the open folder in `/proc/self/fd`. The path is valid until the handle is closed. */
  get path(): string {
    return `${descriptors}/${this.#descriptor}`;
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Returns the status of an entry. Does not follow links. Returns undefined for a missing entry. */
  stat(name: string): Stats | undefined {
    return lstatSync(this.pathOf(name), { throwIfNoEntry: false });
  }

  /** Opens a regular file and returns the descriptor, which the caller must close. Returns undefined for an entry of another kind. */
  openFile(name: string): number | undefined {
    const descriptor = openSync(this.pathOf(name), fileFlags);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
    return undefined;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Creates a folder. Returns false if the folder exists. */
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

/** Runs `work` with an open folder and closes the folder afterwards. */
export function inDirectoryHandle<Result>(folder: DirectoryHandle, work: (folder: DirectoryHandle) => Result): Result {
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}
