import { chmod, chown, link, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { sourceMapsFolder } from "../engine/entrypoint.js";

const moduleFile = "bundle.mjs";
/** An app with more files gets an isolate of its own, whose rules name its folder: to link each of them would hold up its first request. */
const mostLinkedFiles = 2000;

/**
 * What an isolate may read of its slot, in the form of `--allow-fs-read`. Node resolves `..` by the text of a path, and the kernel by where
 * a link leads. So the slot itself is not among these: a path that climbs above a link in it lies outside of them as a text.
 */
export function readablePaths(slot: string): string[] {
  return [path.join(slot, "app", "*"), path.join(slot, "package", sourceMapsFolder, "*"), path.join(slot, moduleFile)];
}

interface SlotOptions {
  /** The one user besides the daemon's that may read it. */
  readonly reader: number | undefined;
  /** The app that `app` leads to from the start, without the entry `hidden`; undefined for a slot whose app comes by `linkFiles`. */
  readonly app: { readonly folder: string; readonly hidden: string | undefined } | undefined;
}

/** The files of an app cannot be linked into a slot: too many, another file system, a full disk, or not all of them plain files. */
export class CannotLinkFiles extends Error {}

/**
 * The folder by which an isolate reaches its app, as `app` in it: hard links to the app's files, or a symbolic link to its folder.
 * When a part is to be hidden, `package` holds it, and `app` all else.
 */
export class SandboxFolder {
  readonly path: string;
  #link = "app";
  #links = 0;

  private constructor(folder: string) {
    this.path = folder;
  }

  /** Creates the folder. Throws EEXIST when it exists: it belongs to another isolate. Deletes the folder when a later step fails. */
  static async create(folder: string, { reader, app }: SlotOptions): Promise<SandboxFolder> {
    await mkdir(folder, { mode: 0o700 });
    const slot = new SandboxFolder(folder);
    try {
      // Node looks for a package.json in each folder above a module, and fails when it finds one that it must not read.
      await writeReadable(path.join(folder, "package.json"), "{}");
      if (reader !== undefined) {
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

  get appPath(): string {
    return path.join(this.path, "app");
  }

  /** Shows the files of `folder` by hard links, the entry `hidden` below `package`. Throws CannotLinkFiles. */
  async linkFiles(folder: string, hidden: string | undefined): Promise<void> {
    const linked = { count: 0 };
    await linkTree(folder, this.appPath, linked, hidden);
    if (hidden === undefined) return;
    await makeReadable(path.join(this.path, "package"));
    await linkTree(path.join(folder, hidden), path.join(this.path, "package", hidden), linked);
  }

  /** Points the link to the folder; whoever opens a file through it meanwhile finds the old or the new one. */
  async #linkFolder(folder: string): Promise<void> {
    this.#links += 1;
    const next = path.join(this.path, `.${this.#link}-${this.#links}`);
    await symlink(folder, next);
    await rename(next, path.join(this.path, this.#link));
  }

  /** The first link to a folder of which `app` does not show the entry `hidden`. */
  async #linkFolderWithout(folder: string, hidden: string): Promise<void> {
    this.#link = "package";
    await this.#linkFolder(folder);
    await makeReadable(this.appPath);
    for (const name of await readdir(folder))
      if (name !== hidden) await symlink(path.join("..", this.#link, name), path.join(this.appPath, name));
  }

  /** The folder has been moved; hard links lead to its files all the same. */
  async follow(movedTo: string): Promise<void> {
    if (this.#links > 0) await this.#linkFolder(movedTo);
  }

  /** Puts a bundled module next to the link; returns its path. */
  async addModule(text: string): Promise<string> {
    const file = path.join(this.path, moduleFile);
    await writeReadable(file, text);
    return file;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

async function linkTree(from: string, to: string, linked: { count: number }, hidden?: string): Promise<void> {
  const [entries] = await Promise.all([readdir(from, { withFileTypes: true }), makeReadable(to).catch(cannotLink)]);
  linked.count += entries.length;
  if (linked.count > mostLinkedFiles) throw new CannotLinkFiles(`it has more than ${mostLinkedFiles} files`);
  await Promise.all(
    entries.map(async (entry) => {
      if (entry.name === hidden) return;
      const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
      if (entry.isDirectory()) return await linkTree(source, target, linked);
      if (!entry.isFile()) throw new CannotLinkFiles(`${source} is no plain file`);
      await link(source, target).catch(cannotLink);
    }),
  );
}

function cannotLink(cause: NodeJS.ErrnoException): never {
  throw new CannotLinkFiles(cause.message, { cause });
}

/** The slot is the wall; the daemon's umask may be narrower than its isolate needs. */
async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
}

async function writeReadable(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await chmod(file, 0o644);
}

/** Folders for slots, made and cleaned by the engine. */
export interface SlotDirectoryPaths {
  /** On the file system of the packages, where possible: files are hard-linked into the slots there. */
  readonly slotsDirectory: string;
  /** Takes the slots that cannot be made in `slotsDirectory`: its disk is full, or read-only. */
  readonly fallbackSlotsDirectory?: string | undefined;
}

/** Makes the slots of isolates in the first directory that can be written. */
export class SandboxDirectories {
  readonly #paths: readonly string[];
  readonly #mode: number;
  readonly #prepared = new Map<string, Promise<void>>();

  /** `mode` is that of the directories: 0711 where other users must be able to go into their slots. */
  constructor({ slotsDirectory, fallbackSlotsDirectory }: SlotDirectoryPaths, mode: 0o700 | 0o711) {
    this.#paths = fallbackSlotsDirectory === undefined ? [slotsDirectory] : [slotsDirectory, fallbackSlotsDirectory];
    this.#mode = mode;
  }

  /** Empties the directory that slots are made in, and returns its path. */
  async prepare(): Promise<string> {
    return await this.#inFirst((directory) => Promise.resolve(directory));
  }

  /** Creates a slot. Throws EEXIST when a slot of that name exists: it belongs to another isolate. */
  async createSlot(name: string, options: SlotOptions): Promise<SandboxFolder> {
    return await this.#inFirst((directory) => SandboxFolder.create(path.join(directory, name), options));
  }

  async remove(): Promise<void> {
    for (const directory of this.#prepared.keys()) await rm(directory, { recursive: true, force: true });
  }

  /** Throws the error of the first directory when it can be done in none. */
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

  /** What an earlier daemon left behind belongs to nobody. */
  async #empty(directory: string): Promise<void> {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: this.#mode });
    await chmod(directory, this.#mode);
  }
}
