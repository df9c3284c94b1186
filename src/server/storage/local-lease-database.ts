import { chmodSync } from "node:fs";
import Database from "better-sqlite3";
import { createLeaseTables, type LeaseLimit, type LeaseRow, type LeaseStatement } from "./lease-sql.js";
import type { LeaseDatabase } from "./sql-lease-store.js";

interface LocalLeaseDatabaseOptions {
  /** File of the database. Created at the first use. */
  readonly file: string;
  /** Runs a change of the database. Throws ApiError if the change fails. */
  readonly write: <Result>(change: () => Result) => Result;
}

/** Leases of one daemon, in a SQLite file of their own. */
export class LocalLeaseDatabase implements LeaseDatabase {
  readonly #options: LocalLeaseDatabaseOptions;
  #database: Database.Database | undefined;

  constructor(options: LocalLeaseDatabaseOptions) {
    this.#options = options;
  }

  async write(statements: readonly LeaseStatement[]): Promise<LeaseRow[][]> {
    return this.#options.write(() => {
      const database = (this.#database ??= openFile(this.#options.file));
      return database.transaction(() => statements.map((statement) => rowsOf(database, statement))).immediate();
    });
  }

  async read(statement: LeaseStatement): Promise<LeaseRow[]> {
    return (await this.write([statement]))[0] ?? [];
  }

  /** Returns a limit that every request meets, because no other daemon uses the file. */
  requestLimit(): LeaseLimit {
    return { notAfterMs: Number.MAX_SAFE_INTEGER, condition: { sql: "TRUE", values: [] } };
  }

  nowMs(): number {
    return Date.now();
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

function openFile(file: string): Database.Database {
  const database = new Database(file);
  chmodSync(file, 0o600);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  for (const { sql } of createLeaseTables()) database.exec(sql);
  return database;
}

function rowsOf(database: Database.Database, { sql, values }: LeaseStatement): LeaseRow[] {
  const statement = database.prepare<object, LeaseRow>(sql);
  // Names each parameter by its number, because better-sqlite3 reads ?1 as a parameter with the name 1.
  const named = Object.fromEntries(values.map((value, index) => [index + 1, value]));
  if (statement.reader) return statement.all(named);
  statement.run(named);
  return [];
}
