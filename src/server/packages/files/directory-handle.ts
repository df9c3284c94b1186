import { closeSync, constants, existsSync, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats } from "node:fs";
import { ApiError } from "../../../shared/api-error.js";

const descriptors = "/proc/self/fd";
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Neither a link nor the writer of a named pipe is waited for or followed. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const folderMode = 0o755;

/**
 * A folder held by its descriptor: what is done by `pathOf` is done in this very folder, also when its path means another one by now.
 * So nothing that happens between a check and its use can lead outside. Must be closed.
 */
export class DirectoryHandle {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Goes down from a directory that the operator has named, segment by segment. With `isMade`, folders that are missing are made. */
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
        // Readable by the isolates, which may run as another user, whatever umask the daemon runs under.
        if (isNew) fchmodSync(inner.#descriptor, folderMode);
      }
      return inner;
    } catch (error) {
      // The disk had room for some of them.
      for (const folder of made.toReversed()) rmdirSync(folder);
      throw error;
    } finally {
      for (const folder of outer) folder.close();
    }
  }

  /** Throws ELOOP at a link, ENOTDIR at anything else that is no folder. */
  enter(name: string): DirectoryHandle {
    try {
      return new DirectoryHandle(openSync(this.pathOf(name), folderFlags));
    } catch (error) {
      // Linux says ENOTDIR of both.
      if (!this.stat(name)?.isSymbolicLink()) throw error;
      throw Object.assign(new Error("a link is not followed", { cause: error }), { code: "ELOOP" });
    }
  }

  /** The folder, for as long as it is not closed. */
  get path(): string {
    return `${descriptors}/${this.#descriptor}`;
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Of an entry itself, where it is a link; undefined when there is none. */
  stat(name: string): Stats | undefined {
    return lstatSync(this.pathOf(name), { throwIfNoEntry: false });
  }

  /** A regular file, as a descriptor of its own that must be closed; undefined for anything else. */
  openFile(name: string): number | undefined {
    const descriptor = openSync(this.pathOf(name), fileFlags);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
    return undefined;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Returns whether it was not there yet. */
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

/** Runs work on a folder that is closed afterwards in any case. */
export function inDirectoryHandle<Result>(folder: DirectoryHandle, work: (folder: DirectoryHandle) => Result): Result {
  try {
    return work(folder);
  } finally {
    folder.close();
  }
}
