import { closeSync, constants, existsSync, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats } from "node:fs";
import { ApiError } from "../../../shared/api-error.js";

const descriptors = "/proc/self/fd";
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Flags that do not follow a symbolic link and do not wait for the writer of a named pipe. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const folderMode = 0o755;

/**
 * An open folder. Operations on `path` affect this folder even if another one now has its name. Therefore no change between a check and its
 * use can lead outside. The caller must close it.
 */
export class DirectoryHandle {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Opens a folder below a directory of the operator, one path segment after the other. With `isMade`, creates missing folders. */
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
        // Isolates can run as other users and must be able to read the folder, whatever the daemon's umask is.
        if (isNew) fchmodSync(inner.#descriptor, folderMode);
      }
      return inner;
    } catch (error) {
      // If a later step fails, for example on a full disk, the new folders are deleted again.
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
      // Linux reports ENOTDIR for a link and for other entries.
      if (!this.stat(name)?.isSymbolicLink()) throw error;
      throw Object.assign(new Error("a link is not followed", { cause: error }), { code: "ELOOP" });
    }
  }

  /** A path of the open folder, valid until the handle is closed. */
  get path(): string {
    return `${descriptors}/${this.#descriptor}`;
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Returns the status of an entry without following links; undefined when the entry is missing. */
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

  /** Creates a folder. Returns false when it exists already. */
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

/** Opens a folder for `work` and closes it afterwards. */
export function inDirectoryHandle<Result>(folder: DirectoryHandle, work: (folder: DirectoryHandle) => Result): Result {
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}
