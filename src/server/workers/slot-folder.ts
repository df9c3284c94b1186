import { chmod, chown, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { sourceMapsFolder } from "./entrypoint.js";

const moduleFile = "bundle.mjs";

/**
 * What an isolate may read of its slot, in the form of `--allow-fs-read`. Node resolves `..` by the text of a path, and the kernel by where
 * a link leads. So the slot itself is not among these: a path that climbs above a link in it lies outside of them as a text.
 */
export function readablePaths(slot: string): string[] {
  return [path.join(slot, "app", "*"), path.join(slot, "package", sourceMapsFolder, "*"), path.join(slot, moduleFile)];
}

/**
 * The folder by which an isolate reaches its app. `app` in it is a link to the app's folder, and the only way to it; when a part is to be
 * hidden, `package` is that link, and `app` a folder of links to all else in it.
 */
export class SlotFolder {
  readonly path: string;
  #link = "app";
  #links = 0;

  private constructor(folder: string) {
    this.path = folder;
  }

  /** For us alone, or to be read by one user besides. Throws when the folder is there already: it would be somebody else's. */
  static async create(folder: string, reader: number | undefined): Promise<SlotFolder> {
    await mkdir(folder, { mode: 0o700 });
    if (reader !== undefined) {
      await chown(folder, process.getuid?.() ?? 0, reader);
      await chmod(folder, 0o750);
    }
    return new SlotFolder(folder);
  }

  get appPath(): string {
    return path.join(this.path, "app");
  }

  /** Points the link to the folder; whoever opens a file through it meanwhile finds the old or the new one. */
  async link(folder: string): Promise<void> {
    this.#links += 1;
    const next = path.join(this.path, `.${this.#link}-${this.#links}`);
    await symlink(folder, next);
    await rename(next, path.join(this.path, this.#link));
  }

  /** The first link to a folder of which `app` does not show the entry `hidden`. */
  async linkWithout(folder: string, hidden: string): Promise<void> {
    this.#link = "package";
    await this.link(folder);
    await mkdir(this.appPath);
    // The slot is the wall; the daemon's umask may be narrower than its isolate needs.
    await chmod(this.appPath, 0o755);
    for (const name of await readdir(folder))
      if (name !== hidden) await symlink(path.join("..", this.#link, name), path.join(this.appPath, name));
  }

  /** Puts a bundled module next to the link; returns its path. */
  async addModule(text: string): Promise<string> {
    const file = path.join(this.path, moduleFile);
    await writeFile(file, text);
    await chmod(file, 0o644);
    return file;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
