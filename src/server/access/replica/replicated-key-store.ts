import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import type { Divergence, ResyncMode } from "../../../shared/contract/shared-index.js";
import type { Log } from "../../log/log.js";
import type { PrimarySource } from "../../config/primary-source.js";
import type { LeaseHolder } from "../../storage/lease-store.js";
import type { RecordChange } from "../../storage/record-store.js";
import { fromRow, type KeyStore, type KeyStoreState, type NewKey, type StoredKey } from "../key-store.js";
import { DivergedError, indexDiverged } from "./divergence.js";
import { PrimaryError, Primary, type SqlRow, type Statement } from "./primary-client.js";
import {
  expireKey,
  insertKey,
  insertReplacementKey,
  revokeKey,
  selectChanged,
  selectKey,
  inNewRevision,
  writeUses,
  type ChangeIdentity,
  type ReplicatedKeyRow,
} from "./primary-sql.js";
import { createRecordTable, putRecords, removeUnusedMark, selectAccepted } from "./record-sql.js";
import { SqlLeaseStore } from "../../storage/sql-lease-store.js";
import { PrimaryLeaseDatabase } from "./primary-lease-database.js";
import { ReplicaFolder } from "./replica-database.js";
import { ReplicatedKeyCache, type ForeignChange } from "./replicated-key-cache.js";
import { ReplicatedRecordStore } from "./replicated-record-store.js";
import { Replication, type KnownPrimary } from "./replication.js";

/**
 * Maximum time that the start of the daemon waits for the newest keys if the disk contains a replica. Without a replica, the start waits
 * for `firstReplicaWaitMs`.
 */
const firstSyncWaitMs = 2_000;
const firstReplicaWaitMs = 30_000;
/**
 * Time after which the primary rejects a change. The daemon reports a failure after 2 s, so a change cannot succeed after this report. The
 * remaining 0.5 s are for the response.
 */
const acceptanceMs = 1_500;
/** Interval at which the daemon writes the times of last use to the primary. */
const usageWriteIntervalMs = 30_000;
/**
 * Maximum number of times of last use in one transaction. The limit keeps transactions short, because a transaction blocks the writes of
 * other daemons.
 */
const usesAtOnce = 500;
/** Maximum time for which a rejected change waits for the state of the primary. The state shows why the primary rejected the change. */
const checkLimitMs = 1_000;
/** Maximum time in which the daemon fetches the newest changes of other daemons: the time limit of a change. */
const fetchLimitMs = 2_000;
/** Seconds in the `Retry-After` header of the response when the daemon cannot write to the primary. */
const retryAfterSeconds = 5;

export interface ReplicatedKeyStoreOptions {
  readonly source: PrimarySource;
  readonly stateDirectory: string;
  /** Name and identity with which this daemon holds leases. */
  readonly instance: LeaseHolder;
  /** Called for each change that another daemon made to a key. */
  readonly onForeignChange: (change: ForeignChange) => void;
  /** Called when the primary lacks revisions of this daemon. Called with undefined when a later sync succeeds without a `resync`. */
  readonly onDivergence: (divergence: Divergence | undefined) => void;
  readonly log: Log;
}

/**
 * Key store that several daemons share: a libSQL server is the primary, and each daemon has a replica. Lookups read memory. Changes go to
 * the primary, and throw KEY_STORE_UNAVAILABLE without a response within 2 s, or INDEX_DIVERGED.
 */
export class ReplicatedKeyStore implements KeyStore {
  readonly #primary: Primary;
  readonly #replication: Replication;
  readonly #table = new ReplicatedKeyCache();
  /** Random identifier of this run of the daemon. */
  readonly #run: string;
  readonly #log: Log;
  readonly #usageTimer: NodeJS.Timeout;
  readonly records = new ReplicatedRecordStore((changes) => this.#putRecords(changes));
  readonly leases: SqlLeaseStore;

  private constructor(
    primary: Primary,
    { source, stateDirectory, instance, onForeignChange, onDivergence, log }: ReplicatedKeyStoreOptions,
  ) {
    this.#primary = primary;
    const leaseDatabase = new PrimaryLeaseDatabase({
      send: (statements, options) => this.#send(statements, options),
      read: (statements) => this.#read(statements),
      createMark: () => this.#createMark(),
      nowMs: () => this.#known().nowMs(),
    });
    this.#run = instance.run;
    this.leases = new SqlLeaseStore(leaseDatabase, instance);
    this.#log = log;
    this.#replication = new Replication({
      source,
      primary,
      folder: new ReplicaFolder(path.join(stateDirectory, "replica")),
      onMore: async (reader) => {
        for (const change of await this.#table.catchUp(reader, this.#run)) onForeignChange(change);
        await this.records.catchUp(reader);
      },
      ownRows: () => ({ keys: this.#table.ownRows, records: this.records.ownRows }),
      onDivergence,
      onAnother: async (reader, isAccepted) => {
        if (isAccepted) this.#table.forgetOwn();
        const before = this.#table.keys.size;
        await this.#table.load(reader);
        await this.records.load(reader, { isAccepted });
        if (isAccepted) log.warn({ before, now: this.#table.keys.size }, "the keys of the primary replaced the keys of this daemon");
      },
      log,
    });
    this.#usageTimer = setInterval(() => void this.#writeUses(), usageWriteIntervalMs).unref();
  }

  /**
   * Opens the replica. Updates the replica first if the primary responds within the time limit. Throws NewerStateError if the replica or
   * the primary has a newer schema.
   */
  static async open(options: ReplicatedKeyStoreOptions): Promise<ReplicatedKeyStore> {
    const store = new ReplicatedKeyStore(await Primary.at(options.source), options);
    try {
      const hasReplica = await store.#replication.open();
      const first = store.#replication.begin();
      await Promise.race([first, delay(hasReplica ? firstSyncWaitMs : firstReplicaWaitMs, undefined, { ref: false })]);
      if (store.#replication.newerState) throw store.#replication.newerState;
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  findByHash(hash: string): StoredKey | undefined {
    return this.#table.keys.findByHash(hash);
  }

  find(id: number): StoredKey | undefined {
    return this.#table.keys.find(id);
  }

  list(): StoredKey[] {
    return this.#table.keys.list();
  }

  get keyCount(): number {
    return this.#table.keys.size;
  }

  async create(key: NewKey): Promise<StoredKey> {
    const [, rows = []] = await this.#change(insertKey(key), selectKey(key.hash));
    return this.#note(rows[0]);
  }

  async rotate(id: number, replacement: NewKey, endsAt: number): Promise<StoredKey | undefined> {
    if (!this.find(id)) return undefined;
    const end = endsAt <= replacement.createdAt ? revokeKey(id, replacement.createdAt) : expireKey(id, endsAt);
    const [, , old = [], row = []] = await this.#change(
      end,
      insertReplacementKey(replacement, id),
      selectChanged(id),
      selectKey(replacement.hash),
    );
    if (!old[0]) return undefined;
    this.#note(old[0]);
    return this.#note(row[0]);
  }

  async revoke(id: number, now: number): Promise<boolean> {
    if (!this.find(id)) return false;
    const [, rows = []] = await this.#change(revokeKey(id, now), selectChanged(id));
    if (!rows[0]) return false;
    this.#note(rows[0]);
    return true;
  }

  markUsed(id: number, now: number): void {
    this.#table.keys.markUsed(id, now);
  }

  readState(): KeyStoreState {
    const { divergence, hasReplica, state } = this.#replication;
    const problem = divergence ? new DivergedError(divergence).message : this.#replication.problem;
    return {
      mode: "sync",
      isReadable: hasReplica,
      isWritable: problem === undefined,
      problem: problem === undefined ? undefined : `the primary of the key store ${problem}`,
      divergence,
      replica: state,
    };
  }

  async resync(mode: ResyncMode): Promise<{ keys: number; records: number }> {
    try {
      await this.#replication.resync(mode);
    } catch (error) {
      throw error instanceof ApiError ? error : unavailable((error as Error).message, error);
    }
    return { keys: this.keyCount, records: this.records.recordCount };
  }

  async fetchChanges(): Promise<void> {
    const isDone = await this.#replication.check(fetchLimitMs);
    const { divergence, problem } = this.#replication;
    if (divergence) throw indexDiverged(divergence);
    if (!isDone) throw unavailable(problem ?? "did not send its newest changes in time");
  }

  assertReadable(): void {
    this.#replication.assertReadable();
  }

  async close(): Promise<void> {
    clearInterval(this.#usageTimer);
    if (this.#replication.problem === undefined) await this.#writeUses();
    await this.#replication.end();
    await this.#primary.close();
  }

  #note(row: SqlRow | undefined): StoredKey {
    const keyRow = row as unknown as ReplicatedKeyRow;
    this.#table.noteOwn(keyRow);
    this.#replication.hurry();
    return fromRow(keyRow);
  }

  /** Sends a change to the primary. Resolves with the rows of each statement after the primary has committed the change. */
  async #change(...statements: Statement[]): Promise<SqlRow[][]> {
    const marked = this.#createMark();
    const results = await this.#send(inNewRevision(marked, statements));
    const revision = results.at(-1)?.[0]?.["revision"];
    if (revision === undefined) throw await this.#notAccepted();
    this.#replication.noteOwn({ ...marked.known, revision: Number(revision), mark: marked.mark });
    return results.slice(1, -2);
  }

  async #putRecords(changes: readonly RecordChange[]): Promise<number | undefined> {
    const marked = this.#createMark();
    const statements = inNewRevision(marked, [putRecords(changes), selectAccepted(), removeUnusedMark()]);
    const results = await this.#send(statements, { creating: createRecordTable() });
    const revision = results.at(-1)?.[0]?.["revision"];
    if (revision === undefined && results.at(2)?.length !== 1) throw await this.#notAccepted();
    if (revision === undefined) {
      // If a condition is not met, the replica lacks a change of another daemon. Starts a sync, so that the caller can read this change.
      this.#replication.hurry();
      return undefined;
    }
    this.#replication.noteOwn({ ...marked.known, revision: Number(revision), mark: marked.mark });
    this.#replication.hurry();
    return Number(revision);
  }

  /** Returns the error of a change that the primary did not accept. First requests the state of the primary, to find out the reason. */
  async #notAccepted(): Promise<ApiError> {
    await this.#replication.check(checkLimitMs);
    const { divergence } = this.#replication;
    return divergence ? indexDiverged(divergence) : unavailable("received the change too late, or was restored or replaced meanwhile");
  }

  #known(): KnownPrimary {
    const { primary: known, problem, divergence } = this.#replication;
    if (divergence) throw indexDiverged(divergence);
    if (!known) throw unavailable(problem ?? "has not responded yet");
    return known;
  }

  #createMark(): ChangeIdentity {
    const known = this.#known();
    const notAfterMs = Math.floor(known.nowMs() + acceptanceMs);
    return { known: known.position, mark: randomUUID(), instance: this.#run, notAfterMs };
  }

  /**
   * Sends the statements to the primary. If the primary has no such table, sends the statements in `creating` first and then repeats the
   * request.
   */
  async #send(statements: readonly Statement[], { creating = [] }: { creating?: readonly Statement[] } = {}): Promise<SqlRow[][]> {
    try {
      return await this.#primary.write(...statements).catch(async (error: unknown) => {
        if (creating.length === 0 || !(error instanceof PrimaryError) || error.kind !== "without-tables") throw error;
        // The first statement fails if the primary was emptied. The other statements then create no tables in that primary.
        await this.#primary.write({ sql: "SELECT 1 FROM key_store", values: [] }, ...creating);
        return this.#primary.write(...statements);
      });
    } catch (error) {
      if (!(error instanceof PrimaryError)) throw error;
      throw error.kind === "without-tables" ? await this.#notAccepted() : unavailable(error.message, error);
    }
  }

  async #read(statements: readonly Statement[]): Promise<SqlRow[][]> {
    try {
      return await this.#primary.read(...statements);
    } catch (error) {
      if (!(error instanceof PrimaryError)) throw error;
      if (error.kind === "without-tables") return [];
      throw storeError(`The leases of the key store cannot be read now, because its primary ${error.message}. Retry later.`, error);
    }
  }

  /**
   * Writes the times of last use to the primary. Never throws, because a request must not fail if the use of its key cannot be recorded.
   * Times that are not written stay in memory.
   */
  async #writeUses(): Promise<void> {
    const uses = this.#table.keys.unwrittenUses();
    try {
      for (let start = 0; start < uses.length; start += usesAtOnce) {
        const batch = uses.slice(start, start + usesAtOnce);
        await this.#change(writeUses(batch));
        this.#table.keys.forgetUses(batch);
      }
    } catch (error) {
      this.#log.warn({ err: error }, "the times of last use of keys could not be written; the daemon tries again");
    }
  }
}

/** Returns the error of a change. If `cause` is an error of the primary, the message says whether the primary has possibly made the change. */
function unavailable(why: string, cause?: unknown): ApiError {
  const isPossiblyMade = cause instanceof PrimaryError && cause.isPossiblyCommitted;
  const outcome = isPossiblyMade
    ? "The primary has possibly made the change: check it before you retry."
    : "Nothing was changed. Retry later.";
  return storeError(`The key store is not writable now, because its primary ${why}. ${outcome}`, cause);
}

function storeError(message: string, cause: unknown): ApiError {
  return new ApiError("KEY_STORE_UNAVAILABLE", message, { retryAfterSeconds, ...(cause !== undefined && { cause }) });
}
