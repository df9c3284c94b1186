import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";

/** The one folder an isolate may read besides its own program. `app` in it is a link to the app's folder, and the only way to it. */
export class SlotFolder {
  readonly path: string;
  #links = 0;

  private constructor(folder: string) {
    this.path = folder;
  }

  static async create(folder: string): Promise<SlotFolder> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new SlotFolder(folder);
  }

  get appPath(): string {
    return path.join(this.path, "app");
  }

  /** Points `app` to the folder; whoever opens a file through it meanwhile finds the old or the new one. */
  async link(folder: string): Promise<void> {
    this.#links += 1;
    const next = path.join(this.path, `.app-${this.#links}`);
    await symlink(folder, next);
    await rename(next, this.appPath);
  }

  /** Puts a bundled module next to the link; returns its path. */
  async addModule(text: string): Promise<string> {
    const file = path.join(this.path, "bundle.mjs");
    await writeFile(file, text);
    return file;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
