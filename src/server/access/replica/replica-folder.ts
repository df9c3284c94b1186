import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

/**
 * Where the replica lies: `current` is read and kept up to date; a new one is fetched into `next`, so that there is always one to start from,
 * also when the primary goes away meanwhile. All are closed to other users.
 */
export class ReplicaFolder {
  readonly #folder: string;

  /** Makes the folder, and undoes a change of replicas that was interrupted. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    if (!existsSync(this.#path("current")) && existsSync(this.#path("old"))) renameSync(this.#path("old"), this.#path("current"));
    this.#remove("old");
    this.#remove("next");
  }

  get currentFile(): string {
    return path.join(this.#path("current"), "keys.db");
  }

  get hasCurrent(): boolean {
    return existsSync(this.currentFile);
  }

  /** An empty place for a new replica; the file's path. */
  prepareNext(): string {
    this.#remove("next");
    mkdirSync(this.#path("next"), { mode: 0o700 });
    return path.join(this.#path("next"), "keys.db");
  }

  /** The one in `next` becomes the current one. Nobody may have either open. */
  takeNext(): void {
    this.#remove("old");
    if (existsSync(this.#path("current"))) renameSync(this.#path("current"), this.#path("old"));
    renameSync(this.#path("next"), this.#path("current"));
    this.#remove("old");
  }

  removeCurrent(): void {
    this.#remove("current");
  }

  #path(name: "current" | "next" | "old"): string {
    return path.join(this.#folder, name);
  }

  #remove(name: "current" | "next" | "old"): void {
    rmSync(this.#path(name), { recursive: true, force: true });
  }
}
