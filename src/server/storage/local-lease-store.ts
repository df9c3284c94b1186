import { chmodSync } from "node:fs";
import Database from "better-sqlite3";
import {
  answerOf,
  beat,
  createLeaseTables,
  endLease,
  forgetHolders,
  forgetLeases,
  loseLeases,
  selectLease,
  selectLeases,
  selectLive,
  skipMissed,
  takeLease,
  toLease,
  type LeaseRow,
  type LeaseStatement,
} from "./lease-sql.js";
import type { Lease, LeaseAnswer, LeaseHolder, LeaseRequest, LeaseStore, MissedLease, Settled } from "./lease-store.js";

interface LocalLeaseStoreOptions {
  /** File of the database. Created at the first use. */
  readonly file: string;
  readonly holder: LeaseHolder;
  /** Runs a change of the database. Throws ApiError if the change fails. */
  readonly write: <Result>(change: () => Result) => Result;
}

/** Lease store of one daemon, in a SQLite file of its own. */
export class LocalLeaseStore implements LeaseStore {
  readonly #options: LocalLeaseStoreOptions;
  #database: Database.Database | undefined;

  constructor(options: LocalLeaseStoreOptions) {
    this.#options = options;
  }

  async take(request: LeaseRequest): Promise<LeaseAnswer> {
    const always = { notAfterMs: Number.MAX_SAFE_INTEGER, condition: { sql: "TRUE", values: [] } };
    return answerOf(this.#run([beat(this.#options.holder), ...takeLease(request, this.#options.holder, always)]).at(-1)?.[0]);
  }

  async has(name: string): Promise<boolean> {
    return this.#run([selectLease(name)])[0]?.length === 1;
  }

  async end(name: string, token: string, state: "ran" | "skipped", result: string): Promise<void> {
    this.#run(endLease(name, token, state, result));
  }

  async settle(missed: readonly MissedLease[]): Promise<Settled> {
    const { holder } = this.#options;
    const rows = this.#run([beat(holder), loseLeases(), skipMissed(missed, holder), selectLive(), forgetHolders()]);
    return { unknown: (rows[1] ?? []).map(toLease), liveInstances: (rows[3] ?? []).map((row) => String((row as { id?: unknown }).id)) };
  }

  async list(queues: readonly string[], limit: number): Promise<Lease[]> {
    return (this.#run([selectLeases(queues, limit)])[0] ?? []).map(toLease);
  }

  async forget(prefix: string, untilMs: number): Promise<void> {
    this.#run([forgetLeases(prefix, untilMs)]);
  }

  nowMs(): number {
    return Date.now();
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  #run(statements: readonly LeaseStatement[]): LeaseRow[][] {
    return this.#options.write(() => {
      const database = (this.#database ??= openFile(this.#options.file));
      return database.transaction(() => statements.map((statement) => rowsOf(database, statement))).immediate();
    });
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
  // better-sqlite3 reads ?1 as a parameter with the name 1.
  const named = Object.fromEntries(values.map((value, index) => [index + 1, value]));
  if (statement.reader) return statement.all(named);
  statement.run(named);
  return [];
}
