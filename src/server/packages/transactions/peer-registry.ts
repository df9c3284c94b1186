import { closeSync, existsSync, openSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { ProcessLock } from "../../platform/process-lock.js";

const suffix = ".instance";

/** Which instances have a directory open: each holds a file that says so for as long as it lives. */
export class PeerRegistry {
  readonly #folder: string;
  readonly #instance: string;
  #own: ProcessLock | undefined;

  constructor(options: { folder: string; instance: string }) {
    this.#folder = options.folder;
    this.#instance = options.instance;
  }

  /** Whether the others can see this instance: not before `join`, nor when somebody has deleted its file. */
  get isJoined(): boolean {
    return this.#own !== undefined && existsSync(this.#fileOf(this.#instance));
  }

  /** To be called by who holds the directory: a file that nobody holds yet would look like that of a dead instance. */
  join(): void {
    this.#own?.release();
    this.#own = undefined;
    const file = this.#fileOf(this.#instance);
    // By a call whose error says what is wrong.
    closeSync(openSync(file, "a", 0o600));
    this.#own = ProcessLock.take(file);
  }

  isAlive(instance: string): boolean {
    return instance === this.#instance || ProcessLock.isHeld(this.#fileOf(instance));
  }

  /** Those that are there besides this one, alive as far as is known. */
  others(): string[] {
    return marksIn(this.#folder).filter((instance) => instance !== this.#instance);
  }

  /** Deletes the files of those that ended without having done so. To be called by who holds the directory. */
  forgetDead(): void {
    for (const instance of this.others()) if (!this.isAlive(instance)) rmSync(this.#fileOf(instance), { force: true });
  }

  leave(): void {
    if (this.#own) rmSync(this.#fileOf(this.#instance), { force: true });
    this.#own?.release();
    this.#own = undefined;
  }

  #fileOf(instance: string): string {
    return path.join(this.#folder, instance + suffix);
  }
}

function marksIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []));
  } catch {
    return [];
  }
}
