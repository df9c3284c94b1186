import { existsSync } from "node:fs";
import Database, { SqliteError } from "better-sqlite3";

/**
 * A lock file that only one process can hold. The kernel, or the server of a network file system, releases the lock when the process exits.
 * Uses SQLite's lock on an empty file, because Node.js has no file locks.
 */
export class ProcessLock {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /** Locks a file and creates it if it is missing. If another process holds the lock, returns undefined without waiting. */
  static take(file: string): ProcessLock | undefined {
    return ProcessLock.#open(new Database(file, { timeout: 0 }));
  }

  /** Returns whether a process holds the lock. Returns false if the file does not exist. */
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
      // Prevents a journal file of SQLite by `journal_mode = MEMORY`. The lock needs no journal, because its file stays empty.
      database.pragma("journal_mode = MEMORY");
      // Begins with IMMEDIATE, so that exactly one of several waiting processes gets the lock. With EXCLUSIVE, it is possible that none
      // gets the lock.
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
