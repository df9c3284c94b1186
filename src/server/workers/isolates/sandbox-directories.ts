import { chmod, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { SandboxFolder, type SlotOptions } from "./sandbox-folder.js";

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
