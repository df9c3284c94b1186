import { existsSync } from "node:fs";
import Database, { SqliteError } from "better-sqlite3";

/**
 * A file that one process at a time holds. The kernel frees it when the process ends, however it ends; on a network file system its
 * server does, as soon as it knows. Node itself has no locks: these are SQLite's on a file that stays empty.
 */
export class ProcessLock {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /** Takes the lock of a file, which is made when it is missing; undefined when somebody holds it. Never waits. */
  static take(file: string): ProcessLock | undefined {
    return ProcessLock.#open(new Database(file, { timeout: 0 }));
  }

  /** Whether somebody holds a file. One that is missing nobody holds. */
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
      // No journal file beside it: nothing is ever written.
      database.pragma("journal_mode = MEMORY");
      // Of several that ask at once exactly one gets it, which EXCLUSIVE does not promise.
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
