import { chmod, chown, link, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../platform/remove-folder.js";
import { sourceMapsFolder } from "../engine/entrypoint.js";

const moduleFile = "bundle.mjs";
/**
 * Maximum number of files that the daemon links into a sandbox folder. More links would delay the first request. A worker with more files
 * gets a dedicated isolate, whose file rules contain the worker's folder.
 */
const mostLinkedFiles = 2000;

/**
 * Returns the paths for `--allow-fs-read`. Omits the sandbox folder itself, so that Node.js denies `<link>/..`. For this path, Node.js
 * checks the sandbox folder, but the kernel opens the parent of the link's target.
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
  /** User id that can read the sandbox folder. The daemon's user can read it too. */
  readonly reader: number | undefined;
  /**
   * The worker's folder, to which the link `app` leads, and the name of the entry that the worker must not see. Undefined if `linkFiles`
   * adds the files later.
   */
  readonly app: { readonly folder: string; readonly hidden: string | undefined } | undefined;
}

/**
 * Thrown if the files of a worker cannot be linked into a sandbox folder: too many files, another file system, a full disk, or an entry
 * that is not a regular file.
 */
export class CannotLinkFiles extends Error {}

/**
 * The folder through which an isolate reads its worker. Its entry `app` has hard links to the worker's files, or is a symbolic link to the
 * worker's folder. An entry that the worker must not see is not in `app`, but in the entry `package`.
 */
export class SandboxFolder {
  readonly path: string;
  #link = "app";
  #links = 0;

  private constructor(folder: string) {
    this.path = folder;
  }

  /**
   * Creates the folder. Throws EEXIST if it exists, because it then belongs to another isolate. If a later step fails, deletes the folder.
   */
  static async create(folder: string, { reader, app }: SlotOptions): Promise<SandboxFolder> {
    await mkdir(folder, { mode: 0o700 });
    const slot = new SandboxFolder(folder);
    try {
      // Ends the search of Node.js for a package.json in this folder. Node.js searches all parent folders of a module, and fails at a file
      // that it cannot read.
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

  /**
   * Creates hard links in `app` to the files in `folder`, except for the entry `hidden`. Creates the links for `hidden` in `package`.
   * Throws CannotLinkFiles.
   */
  async linkFiles(folder: string, hidden: string | undefined): Promise<void> {
    const linked = { count: 0 };
    await linkTree(folder, this.appPath, linked, hidden);
    if (hidden === undefined) return;
    await makeReadable(path.join(this.path, "package"));
    await linkTree(path.join(folder, hidden), path.join(this.path, "package", hidden), linked);
  }

  /** Makes the symbolic link lead to `folder`, by a rename. A reader therefore opens either the old or the new file. */
  async #linkFolder(folder: string): Promise<void> {
    this.#links += 1;
    const next = path.join(this.path, `.${this.#link}-${this.#links}`);
    await symlink(folder, next);
    await rename(next, path.join(this.path, this.#link));
  }

  /** Creates the symbolic link `package` to `folder`. Creates a symbolic link in `app` to each entry of `folder` except `hidden`. */
  async #linkFolderWithout(folder: string, hidden: string): Promise<void> {
    this.#link = "package";
    await this.#linkFolder(folder);
    await makeReadable(this.appPath);
    for (const name of await readdir(folder))
      if (name !== hidden) await symlink(path.join("..", this.#link, name), path.join(this.appPath, name));
  }

  /** Makes the symbolic link lead to the moved folder of the worker. Hard links stay valid. */
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

/** Creates a folder that all users can read, independently of the daemon's umask. The mode of the sandbox folder restricts the access. */
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
  /**
   * Preferred directory. It should be on the file system of the packages, because sandbox folders contain hard links to files of packages.
   */
  readonly slotsDirectory: string;
  /** Directory for sandbox folders that the daemon cannot create in `slotsDirectory`, for example because the disk is full or read-only. */
  readonly fallbackSlotsDirectory?: string | undefined;
}

/** Creates sandbox folders (slots) in the first writable directory. */
export class SandboxDirectories {
  readonly #paths: readonly string[];
  readonly #mode: number;
  readonly #prepared = new Map<string, Promise<void>>();

  /** `mode` contains the permission bits of the directories. With 0711, other users can enter their sandbox folders. */
  constructor({ slotsDirectory, fallbackSlotsDirectory }: SlotDirectoryPaths, mode: 0o700 | 0o711) {
    this.#paths = fallbackSlotsDirectory === undefined ? [slotsDirectory] : [slotsDirectory, fallbackSlotsDirectory];
    this.#mode = mode;
  }

  /** Empties the first usable directory and returns its path. */
  async prepare(): Promise<string> {
    return await this.#inFirst((directory) => Promise.resolve(directory));
  }

  /** Creates a sandbox folder. Throws EEXIST if `name` exists, because that folder belongs to another isolate. */
  async createSlot(name: string, options: SlotOptions): Promise<SandboxFolder> {
    return await this.#inFirst((directory) => SandboxFolder.create(path.join(directory, name), options));
  }

  async remove(): Promise<void> {
    for (const directory of this.#prepared.keys()) await rm(directory, { recursive: true, force: true });
  }

  /** Runs `action` in the first usable directory. If it fails in all directories, throws the error of the first directory. */
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

  /** Empties the directory. An earlier process of the daemon can have left sandbox folders in it. */
  async #empty(directory: string): Promise<void> {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: this.#mode });
    await chmod(directory, this.#mode);
  }
}
