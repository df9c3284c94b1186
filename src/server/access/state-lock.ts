import path from "node:path";
import Database from "better-sqlite3";

/** Holds the state directory for this process; the kernel frees it when the process ends, however it ends. */
export class StateLock {
  readonly #database: Database.Database;

  /** Throws when another daemon holds the directory. */
  constructor(stateDirectory: string) {
    this.#database = new Database(path.join(stateDirectory, "lock.db"), { timeout: 0 });
    try {
      this.#database.pragma("locking_mode = EXCLUSIVE");
      this.#database.exec("BEGIN EXCLUSIVE");
    } catch (cause) {
      this.#database.close();
      throw new Error(
        `Another runtimed uses the state directory ${stateDirectory}. Stop it, or set RUNTIME_STATE_DIR to another directory.`,
        { cause },
      );
    }
  }

  release(): void {
    this.#database.close();
  }
}
