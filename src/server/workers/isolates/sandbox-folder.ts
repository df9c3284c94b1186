import { chmod, chown, link, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../platform/remove-folder.js";
import { sourceMapsFolder } from "../engine/entrypoint.js";

const moduleFile = "bundle.mjs";
/**
 * Maximum number of files that are linked into a slot. More files would delay the first request. The worker then gets a dedicated isolate,
 * whose rules name the worker's folder.
 */
const mostLinkedFiles = 2000;

/**
 * Returns the `--allow-fs-read` paths of a slot, without the slot itself. Node.js resolves `..` as text, and the kernel resolves it after
 * following links. A path with `..` above a link is therefore outside the allowed paths.
 */
export function readablePaths(slot: string): string[] {
  return [
    path.join(slot, "app", "*"),
    path.join(slot, "package", sourceMapsFolder, "*"),
    path.join(slot, moduleFile),
    path.join(temporaryFolderOf(slot), "*"),
  ];
}

/** Returns the temporary folder of a slot, which `os.tmpdir()` returns in the isolate. Only this isolate reads and writes the folder. */
export function temporaryFolderOf(slot: string): string {
  return path.join(slot, "tmp");
}

interface SlotOptions {
  /** System user that can read the slot, besides the daemon's user. */
  readonly reader: number | undefined;
  /** Folder of the worker for the link `app`, and the name of the entry to hide. Undefined when `linkFiles` adds the worker later. */
  readonly app: { readonly folder: string; readonly hidden: string | undefined } | undefined;
}

/**
 * The worker's files cannot be linked into a slot. Reasons: too many files, another file system, a full disk, or an entry that is not a
 * regular file.
 */
export class CannotLinkFiles extends Error {}

/**
 * The folder through which an isolate reads its worker. `app` contains hard links to the worker's files, or is a symbolic link to the
 * worker's folder. The entry `hidden` is not in `app`; the isolate reads it through `package`.
 */
export class SandboxFolder {
  readonly path: string;
  #link = "app";
  #links = 0;

  private constructor(folder: string) {
    this.path = folder;
  }

  /**
   * Creates the folder. Throws EEXIST when it exists, because it belongs to another isolate. Deletes the folder when a later step fails.
   */
  static async create(folder: string, { reader, app }: SlotOptions): Promise<SandboxFolder> {
    await mkdir(folder, { mode: 0o700 });
    const slot = new SandboxFolder(folder);
    try {
      // Node.js searches each folder above a module for a package.json, and fails when it finds one that it cannot read.
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

  /** Creates hard links to the files of `folder` in `app`, and to the entry `hidden` in `package`. Throws CannotLinkFiles. */
  async linkFiles(folder: string, hidden: string | undefined): Promise<void> {
    const linked = { count: 0 };
    await linkTree(folder, this.appPath, linked, hidden);
    if (hidden === undefined) return;
    await makeReadable(path.join(this.path, "package"));
    await linkTree(path.join(folder, hidden), path.join(this.path, "package", hidden), linked);
  }

  /** Changes the link to the folder atomically: a concurrent reader opens the old file or the new one. */
  async #linkFolder(folder: string): Promise<void> {
    this.#links += 1;
    const next = path.join(this.path, `.${this.#link}-${this.#links}`);
    await symlink(folder, next);
    await rename(next, path.join(this.path, this.#link));
  }

  /** Links the folder as `package`, and links each of its entries except `hidden` in `app`. */
  async #linkFolderWithout(folder: string, hidden: string): Promise<void> {
    this.#link = "package";
    await this.#linkFolder(folder);
    await makeReadable(this.appPath);
    for (const name of await readdir(folder))
      if (name !== hidden) await symlink(path.join("..", this.#link, name), path.join(this.appPath, name));
  }

  /** Changes the symbolic link after the folder was moved. Hard links stay valid. */
  async follow(movedTo: string): Promise<void> {
    if (this.#links > 0) await this.#linkFolder(movedTo);
  }

  /** Writes a bundled module to the slot. Returns its path. */
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
 * Creates a folder that all users can read. The mode of the slot restricts access. The daemon's umask alone could be too strict for the
 * isolate.
 */
async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
}

async function writeReadable(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await chmod(file, 0o644);
}

/** Directories that contain the slots. The engine creates and empties them. */
export interface SlotDirectoryPaths {
  /** Directory on the file system of the packages, if possible, because slots contain hard links to package files. */
  readonly slotsDirectory: string;
  /** Directory for slots that cannot be created in `slotsDirectory`, for example because the disk is full or read-only. */
  readonly fallbackSlotsDirectory?: string | undefined;
}

/** Creates slots in the first writable directory. */
export class SandboxDirectories {
  readonly #paths: readonly string[];
  readonly #mode: number;
  readonly #prepared = new Map<string, Promise<void>>();

  /** `mode` of the directories: 0711 when other users must be able to enter their slots. */
  constructor({ slotsDirectory, fallbackSlotsDirectory }: SlotDirectoryPaths, mode: 0o700 | 0o711) {
    this.#paths = fallbackSlotsDirectory === undefined ? [slotsDirectory] : [slotsDirectory, fallbackSlotsDirectory];
    this.#mode = mode;
  }

  /** Empties the directory of slots and returns its path. */
  async prepare(): Promise<string> {
    return await this.#inFirst((directory) => Promise.resolve(directory));
  }

  /** Creates a slot. Throws EEXIST when a slot of this name exists, because it belongs to another isolate. */
  async createSlot(name: string, options: SlotOptions): Promise<SandboxFolder> {
    return await this.#inFirst((directory) => SandboxFolder.create(path.join(directory, name), options));
  }

  async remove(): Promise<void> {
    for (const directory of this.#prepared.keys()) await rm(directory, { recursive: true, force: true });
  }

  /** Runs `action` in the first usable directory. Throws the error of the first directory when the action fails in all of them. */
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

  /** Empties the directory, which contains slots of an earlier daemon process. */
  async #empty(directory: string): Promise<void> {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: this.#mode });
    await chmod(directory, this.#mode);
  }
}
