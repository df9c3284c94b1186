import { chmod, chown, link, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../platform/remove-folder.js";
import { sourceMapsFolder } from "../engine/entrypoint.js";

const moduleFile = "bundle.mjs";
/**
 * Maximum number of files that are linked into a sandbox folder. Linking more files would delay the first request. A worker with more files
 * gets a dedicated isolate, whose file rules contain the worker's folder.
 */
const mostLinkedFiles = 2000;

/**
 * Returns the `--allow-fs-read` paths inside a sandbox folder, without the folder itself. Node.js resolves `..` as text; the kernel
 * resolves `..` after following links. `<link>/..` must therefore be outside the allowed paths.
 */
export function readablePaths(slot: string): string[] {
  return [
    path.join(slot, "app", "*"),
    path.join(slot, "package", sourceMapsFolder, "*"),
    path.join(slot, moduleFile),
    path.join(temporaryFolderOf(slot), "*"),
  ];
}

/** Returns the folder that `os.tmpdir()` returns in an isolate. Only this isolate reads and writes the folder. */
export function temporaryFolderOf(slot: string): string {
  return path.join(slot, "tmp");
}

interface SlotOptions {
  /** System user that can read the sandbox folder, besides the daemon's user. */
  readonly reader: number | undefined;
  /**
   * The worker's folder, to which the link `app` points, and the name of the entry to hide. Undefined if `linkFiles` adds the worker's
   * files later.
   */
  readonly app: { readonly folder: string; readonly hidden: string | undefined } | undefined;
}

/**
 * Error: the worker's files cannot be linked into a sandbox folder. Reasons: too many files, another file system, a full disk, or an entry
 * that is not a regular file.
 */
export class CannotLinkFiles extends Error {}

/**
 * The folder through which an isolate reads its worker. `app` contains hard links to the worker's files, or is a symbolic link to the
 * worker's folder. The isolate reads the entry `hidden` through `package`, because `app` does not contain it.
 */
export class SandboxFolder {
  readonly path: string;
  #link = "app";
  #links = 0;

  private constructor(folder: string) {
    this.path = folder;
  }

  /**
   * Creates the folder. Throws EEXIST if the folder exists, because an existing folder belongs to another isolate. Deletes the folder when
   * a later step fails.
   */
  static async create(folder: string, { reader, app }: SlotOptions): Promise<SandboxFolder> {
    await mkdir(folder, { mode: 0o700 });
    const slot = new SandboxFolder(folder);
    try {
      // Creates a package.json that ends Node's search. Node.js searches each folder above a module and fails at a file that it cannot
      // read.
      await writeReadable(path.join(folder, "package.json"), "{}");
      await mkdir(slot.temporaryFolder, { mode: 0o700 });
      if (reader !== undefined) {
        await chown(slot.temporaryFolder, reader, reader);
        await chown(folder, process.getuid?.() ?? 0, reader);
        await chmod(folder, 0o750);
      }
      if (app) await (app.hidden === undefined ? slot.#linkFolder(app.folder) : slot.#linkFolderWithout(app.folder, app.hidden));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return slot;
  }

  get temporaryFolder(): string {
    return temporaryFolderOf(this.path);
  }

  get appPath(): string {
    return path.join(this.path, "app");
  }

  /** Creates hard links in `app` to the files in `folder`, and in `package` to the entry `hidden`. Throws CannotLinkFiles. */
  async linkFiles(folder: string, hidden: string | undefined): Promise<void> {
    const linked = { count: 0 };
    await linkTree(folder, this.appPath, linked, hidden);
    if (hidden === undefined) return;
    await makeReadable(path.join(this.path, "package"));
    await linkTree(path.join(folder, hidden), path.join(this.path, "package", hidden), linked);
  }

  /** Points the symbolic link to `folder` atomically: a concurrent reader opens either the old file or the new file. */
  async #linkFolder(folder: string): Promise<void> {
    this.#links += 1;
    const next = path.join(this.path, `.${this.#link}-${this.#links}`);
    await symlink(folder, next);
    await rename(next, path.join(this.path, this.#link));
  }

  /** Creates the symbolic link `package` to `folder`, and in `app` a symbolic link to each entry except `hidden`. */
  async #linkFolderWithout(folder: string, hidden: string): Promise<void> {
    this.#link = "package";
    await this.#linkFolder(folder);
    await makeReadable(this.appPath);
    for (const name of await readdir(folder))
      if (name !== hidden) await symlink(path.join("..", this.#link, name), path.join(this.appPath, name));
  }

  /** Points the symbolic link to the moved folder of the worker. Hard links need no change. */
  async follow(movedTo: string): Promise<void> {
    if (this.#links > 0) await this.#linkFolder(movedTo);
  }

  /** Writes a bundled module to the sandbox folder. Returns the path of the file. */
  async addModule(text: string): Promise<string> {
    const file = path.join(this.path, moduleFile);
    await writeReadable(file, text);
    return file;
  }

  async remove(): Promise<void> {
    await removeTree(this.path);
  }
}

async function linkTree(from: string, to: string, linked: { count: number }, hidden?: string): Promise<void> {
  const [entries] = await Promise.all([readdir(from, { withFileTypes: true }), makeReadable(to).catch(cannotLink)]);
  linked.count += entries.length;
  if (linked.count > mostLinkedFiles) throw new CannotLinkFiles(`the worker has more than ${mostLinkedFiles} files`);
  await Promise.all(
    entries.map(async (entry) => {
      if (entry.name === hidden) return;
      const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
      if (entry.isDirectory()) return await linkTree(source, target, linked);
      if (!entry.isFile()) throw new CannotLinkFiles(`${source} is not a plain file`);
      await link(source, target).catch(cannotLink);
    }),
  );
}

function cannotLink(cause: NodeJS.ErrnoException): never {
  throw new CannotLinkFiles(cause.message, { cause });
}

/**
 * Creates a folder that all users can read, even if the daemon's umask would not allow reading. The mode of the sandbox folder restricts
 * access.
 */
async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
}

async function writeReadable(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await chmod(file, 0o644);
}

/** Directories that contain the sandbox folders (slots) of isolates. The engine creates and empties these directories. */
export interface SlotDirectoryPaths {
  /** Preferred directory, on the file system of the packages if possible, because sandbox folders contain hard links to package files. */
  readonly slotsDirectory: string;
  /** Directory for sandbox folders that cannot be created in `slotsDirectory`, for example because the disk is full or read-only. */
  readonly fallbackSlotsDirectory?: string | undefined;
}

/** Creates sandbox folders (slots) in the first writable directory. */
export class SandboxDirectories {
  readonly #paths: readonly string[];
  readonly #mode: number;
  readonly #prepared = new Map<string, Promise<void>>();

  /** `mode`: permission bits of the directories. 0711 allows other system users to enter their sandbox folders. */
  constructor({ slotsDirectory, fallbackSlotsDirectory }: SlotDirectoryPaths, mode: 0o700 | 0o711) {
    this.#paths = fallbackSlotsDirectory === undefined ? [slotsDirectory] : [slotsDirectory, fallbackSlotsDirectory];
    this.#mode = mode;
  }

  /** Empties the first usable directory and returns the path of this directory. */
  async prepare(): Promise<string> {
    return await this.#inFirst((directory) => Promise.resolve(directory));
  }

  /** Creates a sandbox folder. Throws EEXIST if a folder `name` exists, because this folder belongs to another isolate. */
  async createSlot(name: string, options: SlotOptions): Promise<SandboxFolder> {
    return await this.#inFirst((directory) => SandboxFolder.create(path.join(directory, name), options));
  }

  async remove(): Promise<void> {
    for (const directory of this.#prepared.keys()) await rm(directory, { recursive: true, force: true });
  }

  /** Runs `action` in the first usable directory. If the action fails in all directories, throws the error of the first directory. */
  async #inFirst<Result>(action: (directory: string) => Promise<Result>): Promise<Result> {
    const errors: unknown[] = [];
    for (const directory of this.#paths) {
      try {
        await this.#prepareOnce(directory);
        return await action(directory);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
        errors.push(error);
      }
    }
    throw errors[0];
  }

  async #prepareOnce(directory: string): Promise<void> {
    const prepared = this.#prepared.get(directory) ?? this.#empty(directory);
    this.#prepared.set(directory, prepared);
    await prepared.catch((error: unknown) => {
      this.#prepared.delete(directory);
      throw error;
    });
  }

  /** Empties the directory, which can contain sandbox folders from an earlier process of the daemon. */
  async #empty(directory: string): Promise<void> {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: this.#mode });
    await chmod(directory, this.#mode);
  }
}
