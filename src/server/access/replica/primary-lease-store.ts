import {
  answerOf,
  beat,
  createLeaseTables,
  endLease,
  firstConditionValue,
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
} from "../../storage/lease-sql.js";
import type { Lease, LeaseAnswer, LeaseHolder, LeaseRequest, LeaseStore, MissedLease, Settled } from "../../storage/lease-store.js";
import type { SqlRow, Statement } from "./primary-client.js";
import { lineageCondition, type Marked } from "./primary-sql.js";

interface PrimaryLeaseStoreOptions {
  readonly holder: LeaseHolder;
  /** Sends statements to the primary. Creates missing tables first by the statements in `creating`. Throws KEY_STORE_UNAVAILABLE. */
  readonly send: (statements: readonly Statement[], options: { creating: readonly Statement[] }) => Promise<SqlRow[][]>;
  /** Runs statements that change nothing. Resolves with no rows if the primary has no such table. Throws KEY_STORE_UNAVAILABLE. */
  readonly read: (statements: readonly Statement[]) => Promise<SqlRow[][]>;
  /** Returns the known position of the primary and the time limit of a change. Throws KEY_STORE_UNAVAILABLE. */
  readonly createMark: () => Marked;
  /** Returns an estimate of the primary's time in Unix milliseconds. Throws KEY_STORE_UNAVAILABLE. */
  readonly nowMs: () => number;
}

/** Lease store in the primary. Leases have no revisions and are not in the replicas, so each call asks the primary. */
export class PrimaryLeaseStore implements LeaseStore {
  readonly #options: PrimaryLeaseStoreOptions;

  constructor(options: PrimaryLeaseStoreOptions) {
    this.#options = options;
  }

  async take(request: LeaseRequest): Promise<LeaseAnswer> {
    const { holder, createMark } = this.#options;
    const { notAfterMs, known } = createMark();
    const condition = { sql: lineageCondition(firstConditionValue), values: [known.epoch, known.revision, known.mark] };
    const rows = await this.#send([beat(holder), ...takeLease(request, holder, { notAfterMs, condition })]);
    return answerOf(rows.at(-1)?.[0]);
  }

  async has(name: string): Promise<boolean> {
    return (await this.#read(selectLease(name))).length === 1;
  }

  async end(name: string, token: string, state: "ran" | "skipped", result: string): Promise<void> {
    await this.#send(endLease(name, token, state, result));
  }

  async settle(missed: readonly MissedLease[]): Promise<Settled> {
    const { holder } = this.#options;
    const rows = await this.#send([beat(holder), loseLeases(), skipMissed(missed, holder), selectLive(), forgetHolders()]);
    return { unknown: (rows[1] ?? []).map((row) => toLease(row as LeaseRow)), liveInstances: (rows[3] ?? []).map(({ id }) => String(id)) };
  }

  async list(queues: readonly string[], limit: number): Promise<Lease[]> {
    return (await this.#read(selectLeases(queues, limit))).map((row) => toLease(row as LeaseRow));
  }

  async forget(prefix: string, untilMs: number): Promise<void> {
    await this.#send([forgetLeases(prefix, untilMs)]);
  }

  nowMs(): number {
    return this.#options.nowMs();
  }

  /** Reads without the write lock of the primary, so that lists do not delay the requests for leases. */
  async #read(statement: Statement): Promise<SqlRow[]> {
    this.#options.nowMs();
    return (await this.#options.read([statement]))[0] ?? [];
  }

  async #send(statements: readonly Statement[]): Promise<SqlRow[][]> {
    // Ensures that the primary has this daemon's keys. Otherwise the statements below would create tables in another primary.
    this.#options.nowMs();
    return this.#options.send(statements, { creating: createLeaseTables() });
  }
}
