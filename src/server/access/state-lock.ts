import path from "node:path";
import Database from "better-sqlite3";

/** Holds the state directory for this process; the kernel frees it when the process ends, however it ends. */
export class StateLock {
  readonly #database: Database.Database;

  /** Throws when another daemon holds the directory, or the disk does not let it be held. */
  constructor(stateDirectory: string) {
    const file = path.join(stateDirectory, "lock.db");
    let database: Database.Database | undefined;
    try {
      database = new Database(file, { timeout: 0 });
      database.pragma("locking_mode = EXCLUSIVE");
      database.exec("BEGIN EXCLUSIVE");
      this.#database = database;
    } catch (cause) {
      database?.close();
      const { code, message } = cause as NodeJS.ErrnoException;
      throw new Error(
        code === "SQLITE_BUSY"
          ? `Another runtimed uses the state directory ${stateDirectory}. Stop it, or set RUNTIME_STATE_DIR to another directory.`
          : `${file} cannot be locked (${message}). Make sure that its disk has room and works and that runtimed may write there, then start again.`,
        { cause },
      );
    }
  }

  release(): void {
    this.#database.close();
  }
}
