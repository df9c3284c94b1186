import {
  resultOfLease,
  recordHeartbeat,
  endHeartbeats,
  endLease,
  forgetHolders,
  forgetLeases,
  loseLeases,
  selectHeartbeats,
  selectLease,
  selectLeases,
  selectLive,
  skipMissed,
  takeLease,
  toLease,
  type LeaseLimit,
  type LeaseRow,
  type LeaseStatement,
} from "./lease-sql.js";
import type { Heartbeat, Lease, LeaseResult, LeaseHolder, LeaseRequest, LeaseStore, MissedLease, HeartbeatResult } from "./lease-store.js";

/** The database of a lease store. All methods throw ApiError if the database does not respond. */
export interface LeaseDatabase {
  /** Runs statements in one transaction, after creating missing tables. Returns the rows of each statement. */
  write(statements: readonly LeaseStatement[]): Promise<LeaseRow[][]>;
  /** Runs a statement that changes nothing. Returns no rows if the tables do not exist. */
  read(statement: LeaseStatement): Promise<LeaseRow[]>;
  /** Returns the time limit and the condition of a request for a lease. */
  requestLimit(): LeaseLimit;
  /** Returns the time of the database in Unix milliseconds. */
  nowMs(): number;
}

type HeartbeatRow = Pick<Heartbeat, "id" | "run"> & { readonly isLive: number };

/** Lease store in a SQL database: the file of one daemon, or the primary of several daemons. */
export class SqlLeaseStore implements LeaseStore {
  readonly #database: LeaseDatabase;
  readonly #holder: LeaseHolder;

  constructor(database: LeaseDatabase, holder: LeaseHolder) {
    this.#database = database;
    this.#holder = holder;
  }

  async take(request: LeaseRequest): Promise<LeaseResult> {
    const limit = this.#database.requestLimit();
    const rows = await this.#database.write([recordHeartbeat(this.#holder), ...takeLease(request, this.#holder, limit)]);
    return resultOfLease(rows.at(-1)?.[0]);
  }

  async has(name: string): Promise<boolean> {
    return (await this.#database.read(selectLease(name))).length === 1;
  }

  async end(name: string, token: string, state: "ran" | "skipped", result: string): Promise<void> {
    await this.#database.write(endLease(name, token, state, result));
  }

  async settle(missed: readonly MissedLease[]): Promise<HeartbeatResult> {
    const holder = this.#holder;
    const rows = await this.#database.write([
      recordHeartbeat(holder),
      loseLeases(),
      skipMissed(missed, holder),
      selectLive(),
      forgetHolders(),
    ]);
    return { unknown: (rows[1] ?? []).map(toLease), liveInstances: (rows[3] ?? []).map((row) => String((row as { id?: unknown }).id)) };
  }

  async list(queues: readonly string[], limit: number): Promise<Lease[]> {
    return (await this.#database.read(selectLeases(queues, limit))).map(toLease);
  }

  async forget(prefix: string, untilMs: number): Promise<void> {
    await this.#database.write([forgetLeases(prefix, untilMs)]);
  }

  async heartbeats(): Promise<Heartbeat[]> {
    const rows = await this.#database.read(selectHeartbeats());
    return (rows as unknown as readonly HeartbeatRow[]).map(({ id, run, isLive }) => ({ id, run, isLive: isLive === 1 }));
  }

  async leave(): Promise<void> {
    await this.#database.write([endHeartbeats(this.#holder)]);
  }

  nowMs(): number {
    return this.#database.nowMs();
  }
}
