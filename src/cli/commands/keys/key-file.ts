import { open, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { CommandError, usageError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";

/** The flag of commands that make a key. */
export const outOption = {
  flags: "-o, --out <file>",
  description: "Write the key to this new file (mode 0600) instead of the terminal",
};

/** The file for a secret. It is made before the key, so that a key never exists that could not be kept. */
export class KeyFile {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(file: string, handle: FileHandle) {
    this.path = file;
    this.#handle = handle;
  }

  /** Makes a new file; none when no name is given. */
  static async create({ workingDirectory }: Context, name: string | undefined): Promise<KeyFile | undefined> {
    if (name === undefined) return undefined;
    const file = path.resolve(workingDirectory, name);
    const handle = await open(file, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`--out ${file}: ${error.code === "EEXIST" ? "the file is there already" : error.message}`);
    });
    return new KeyFile(file, handle);
  }

  /** Writes the key with this id; when that fails, says which key is lost. */
  async write(key: string, id: number): Promise<void> {
    try {
      await this.#handle.writeFile(`${key}\n`);
      await this.#handle.sync();
      await this.#handle.close();
    } catch (cause) {
      throw new CommandError("KEY_LOST", `key ${id} was made, but ${this.path} cannot be written (${(cause as Error).message})`, {
        exitCode: exitCodes.failed,
        hint: `nobody has seen the key; end it with: runtimectl keys revoke ${id}`,
        cause,
      });
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.path, { force: true });
  }
}
