import { existsSync } from "node:fs";
import Database, { SqliteError } from "better-sqlite3";

/**
 * A lock file held by one process at a time. The kernel, or a network file system's server, frees it when the process ends. Uses SQLite's
 * locks on an empty file because Node has no file locks.
 */
export class ProcessLock {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /** Acquires the lock of a file, which is created if missing; undefined when another process holds it. Never waits. */
  static take(file: string): ProcessLock | undefined {
    return ProcessLock.#open(new Database(file, { timeout: 0 }));
  }

  /** Whether a process holds the lock; false when the file does not exist. */
  static isHeld(file: string): boolean {
    if (!existsSync(file)) return false;
    try {
      const lock = ProcessLock.#open(new Database(file, { timeout: 0, fileMustExist: true }));
      lock?.release();
      return lock === undefined;
    } catch (error) {
      if (existsSync(file)) throw error;
      return false;
    }
  }

  static #open(database: Database.Database): ProcessLock | undefined {
    try {
      // Avoids a journal file, because nothing is ever written.
      database.pragma("journal_mode = MEMORY");
      // IMMEDIATE guarantees that exactly one of several concurrent processes gets the lock; EXCLUSIVE does not.
      database.exec("BEGIN IMMEDIATE");
      return new ProcessLock(database);
    } catch (error) {
      database.close();
      if (error instanceof SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
      throw error;
    }
  }

  release(): void {
    this.#database.close();
  }
}
