import { createLeaseTables, firstConditionValue, type LeaseLimit, type LeaseRow, type LeaseStatement } from "../../storage/lease-sql.js";
import type { LeaseDatabase } from "../../storage/sql-lease-store.js";
import type { SqlRow, Statement } from "./primary-client.js";
import { lineageCondition, type ChangeIdentity } from "./primary-sql.js";

interface PrimaryLeaseDatabaseOptions {
  /** Sends statements to the primary. If a table is missing, runs the statements in `creating` first. Throws KEY_STORE_UNAVAILABLE. */
  readonly send: (statements: readonly Statement[], options: { creating: readonly Statement[] }) => Promise<SqlRow[][]>;
  /** Runs statements that change nothing. Resolves with no rows if the primary lacks the table. Throws KEY_STORE_UNAVAILABLE. */
  readonly read: (statements: readonly Statement[]) => Promise<SqlRow[][]>;
  /**
   * Returns the identification of a new change: its mark, the known position of the primary and the time limit. Throws
   * KEY_STORE_UNAVAILABLE.
   */
  readonly createMark: () => ChangeIdentity;
  /** Returns an estimate of the primary's time in Unix milliseconds. Throws KEY_STORE_UNAVAILABLE. */
  readonly nowMs: () => number;
}

/** Leases in the primary. Leases have no revisions and are not in the replicas, so each call asks the primary. */
export class PrimaryLeaseDatabase implements LeaseDatabase {
  readonly #options: PrimaryLeaseDatabaseOptions;

  constructor(options: PrimaryLeaseDatabaseOptions) {
    this.#options = options;
  }

  async write(statements: readonly LeaseStatement[]): Promise<LeaseRow[][]> {
    // Calls `nowMs`, which throws while the primary lacks this daemon's keys. Otherwise the statements below could create tables in another
    // primary.
    this.#options.nowMs();
    return this.#options.send(statements, { creating: createLeaseTables() });
  }

  /** Reads without the write lock of the primary, so that lists do not delay the requests for leases. */
  async read(statement: LeaseStatement): Promise<LeaseRow[]> {
    this.#options.nowMs();
    return (await this.#options.read([statement]))[0] ?? [];
  }

  requestLimit(): LeaseLimit {
    const { notAfterMs, known } = this.#options.createMark();
    return {
      notAfterMs,
      condition: { sql: lineageCondition(firstConditionValue), values: [known.epoch, known.revision, known.mark] },
    };
  }

  nowMs(): number {
    return this.#options.nowMs();
  }
}
