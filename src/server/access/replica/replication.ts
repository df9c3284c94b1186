import { randomUUID } from "node:crypto";
import type { PrimarySource } from "../../config/primary-source.js";
import type { Log } from "../../log/log.js";
import { ApiError } from "../../../shared/api-error.js";
import type { Divergence, ResyncMode } from "../../../shared/contract/shared-index.js";
import type { ReplicaState } from "../key-store.js";
import { NewerStateError } from "../../config/newer-state-error.js";
import { commonRevisionOf, describeDivergence, DivergedError, divergenceKind, fetchHead, type Head, type IndexRows } from "./divergence.js";
import type { Primary } from "./primary-client.js";
import { createTables, newerOf, type Position } from "./primary-sql.js";
import { resyncConflict, rowsOf, writeRows } from "./resync.js";
import type { ReplicaReader, ReplicaFolder } from "./replica-database.js";
import { Replica } from "./replica.js";
import { SyncLoop } from "./sync-loop.js";

/** Time after which the daemon fetches a complete new replica, if all syncs succeed but the replica stays behind the primary. */
const stalledAfterMs = 10_000;
/** Number of consecutive failed syncs after which the daemon fetches a complete new replica, if the primary responds. */
const mostFailedSyncs = 3;
/** Minimum pause after a failed sync. The pause limits the rate of requests to a failing primary. */
const leastPauseAfterFailureMs = 500;
/** Maximum number of keys, and of records, that the daemon reads to describe the revisions that the primary lacks. */
const mostDescribedRows = 400;
/** Matches the error messages of libsql for damaged files. */
const damage = /wal_index|malformed|not a database|corrupt|disk image/i;

export interface ReplicationOptions {
  readonly source: PrimarySource;
  readonly primary: Primary;
  readonly folder: ReplicaFolder;
  /** Called when the current replica contains new changes. */
  readonly onMore: (reader: ReplicaReader) => Promise<void>;
  /** Called after a new replica has replaced the previous one. `isAccepted`: an operator has discarded the changes that it lacks. */
  readonly onAnother: (reader: ReplicaReader, isAccepted: boolean) => Promise<void>;
  /** Returns the changes of this daemon that the replica possibly does not contain yet. */
  readonly ownRows: () => IndexRows;
  /** Called when the primary lacks revisions, or more than before. Called with undefined when a later sync succeeds without a `resync`. */
  readonly onDivergence: (divergence: Divergence | undefined) => void;
  readonly log: Log;
}

/** State of the primary at its last response. */
export interface KnownPrimary {
  /** Newest position that this daemon has received, by a response to a request or to a change of this daemon. */
  readonly position: Position;
  /**
   * Returns an estimate of the primary's current time in Unix milliseconds. The estimate can be before the real time, but never after it.
   */
  readonly nowMs: () => number;
}

/** Keeps a replica equal to the primary. At each interval, requests the newest revision of the primary and fetches newer changes. */
export class Replication {
  readonly #options: ReplicationOptions;
  readonly #replica: Replica;
  readonly #loop: SyncLoop;
  /** Clock of the primary at its last response. Undefined while the primary lacks the keys of this daemon. */
  #clock: KnownPrimary["nowMs"] | undefined;
  #newest: Position | undefined;
  /** Positions of changes of this daemon that the replica does not contain yet. */
  #ownPositions: Position[] = [];
  /** False if a sync wrote rows of a restored or resynced primary to the replica. The daemon then keeps the previous rows in memory. */
  #hasOwnRows = true;
  #divergence: Divergence | undefined;
  /** State of daemon and primary for which `#divergence` was computed. */
  #divergedState = "";
  /** Epoch of the primary for which `#divergence` was computed. Undefined for a primary without tables. */
  #divergedEpoch: string | undefined;
  #problem: string | undefined = "has not responded yet";
  #newerState: NewerStateError | undefined;
  #alikeAtMs: number | undefined;
  #behindSinceMs: number | undefined;
  #failuresInRow = 0;
  #failedSyncs = 0;
  #renewals = 0;

  constructor(options: ReplicationOptions) {
    this.#options = options;
    this.#replica = new Replica(options);
    const { syncIntervalMs } = options.source;
    this.#loop = new SyncLoop({
      sync: () => this.#once(),
      pauseMs: () => (this.#problem === undefined ? syncIntervalMs : Math.max(syncIntervalMs, leastPauseAfterFailureMs)),
    });
  }

  /**
   * State of the primary at its last response. Undefined before the first response, and while the primary lacks the keys of this daemon.
   */
  get primary(): KnownPrimary | undefined {
    return this.#clock && this.#newest && { position: this.#newest, nowMs: this.#clock };
  }

  /** Reason why the replica possibly differs from the primary. Messages put the words "the primary of the key store" before this text. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The revisions that the primary lacks. Undefined if it lacks none, or has not responded yet. */
  get divergence(): Divergence | undefined {
    return this.#divergence;
  }

  /** Error of the last sync about a newer schema. Undefined if the schema is supported. */
  get newerState(): NewerStateError | undefined {
    return this.#newerState;
  }

  get hasReplica(): boolean {
    return this.#replica.reader !== undefined;
  }

  get state(): ReplicaState {
    const lagSeconds = this.#alikeAtMs === undefined ? undefined : (performance.now() - this.#alikeAtMs) / 1000;
    return { lagSeconds, failedSyncs: this.#failedSyncs, renewals: this.#renewals };
  }

  /** Opens the stored replica. Resolves with false if the replica is missing or damaged. Throws NewerStateError for a newer schema. */
  async open(): Promise<boolean> {
    return this.#replica.open((reader) => this.#options.onAnother(reader, false));
  }

  /** Syncs the replica once, then at each interval in the background. Resolves after the first sync. */
  async begin(): Promise<void> {
    await this.#loop.start();
  }

  async end(): Promise<void> {
    this.#loop.abort();
    await this.#replica.stop();
    await this.#loop.ended();
    this.#replica.close();
  }

  /** Adds the position of a change that this daemon made and the primary confirmed. */
  noteOwn(position: Position): void {
    this.#newest = newerOf(position, this.#newest);
    this.#ownPositions.push(position);
  }

  /** Syncs the replica now. Resolves with whether it then has all changes of the primary: false after an error or the time limit. */
  async check(limitMs: number): Promise<boolean> {
    const isDone = await this.#loop.syncNow(limitMs);
    return isDone && this.#problem === undefined && this.#behindSinceMs === undefined;
  }

  /**
   * Ends a divergence: writes the rows of this daemon to the primary, or replaces them by the rows of the primary. Throws INDEX_NOT_DIVERGED,
   * CHANGE_CONFLICT, or an error of the primary. After an error, no rows have changed, unless the response of the primary was lost.
   */
  async resync(mode: ResyncMode): Promise<void> {
    await this.#loop.inTurn(async () => {
      const { primary, log } = this.#options;
      const known = this.#knownPosition();
      const head = known && this.#divergence && (await fetchHead(primary, known));
      if (!known || !this.#divergence || divergenceKind(known, head, true) === undefined)
        throw new ApiError("INDEX_NOT_DIVERGED", "The primary already has all revisions of this daemon. Nothing was changed.");
      if (head?.epoch !== this.#divergedEpoch) throw resyncConflict("was replaced");
      log.warn({ mode, divergence: this.#divergence }, "an operator started a resync with the primary");
      if (mode === "from-cache") await this.#writeRows(known, head);
      else {
        if (!head) await primary.write(...createTables(randomUUID(), randomUUID()));
        await this.#renew("an operator accepted the rows of the primary", { isAccepted: true });
      }
      this.#divergence = undefined;
      await this.#once();
    });
  }

  /**
   * Starts the next sync without a pause, directly after a running sync. If the daemon then restarts while the primary is unreachable, its
   * replica contains the newest changes.
   */
  hurry(): void {
    this.#loop.hurry();
  }

  /** Throws if the current replica is not readable. */
  assertReadable(): void {
    this.#replica.reader?.readPosition();
  }

  /** Syncs the replica once. After a failure, stores and logs the error instead of throwing. */
  async #once(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#align();
      this.#succeeded();
    } catch (error) {
      if (this.#loop.isEnding) return;
      this.#failedSyncs += 1;
      if (error instanceof DivergedError || error instanceof NewerStateError) this.#clock = undefined;
      this.#newerState = error instanceof NewerStateError ? error : undefined;
      const problem = problemOf(error as Error);
      if (problem !== this.#problem) log.error({ err: error }, `the primary of the key store ${problem}; the replica stays in use`);
      this.#problem = problem;
    }
  }

  #succeeded(): void {
    const { onDivergence, log } = this.#options;
    if (this.#problem !== undefined) log.info("the replica of the key store is synced with the primary again");
    this.#problem = undefined;
    this.#newerState = undefined;
    this.#replica.isDiverged = false;
    if (this.#divergence) onDivergence(undefined);
    this.#divergence = undefined;
  }

  async #align(): Promise<void> {
    const { primary, log } = this.#options;
    const position = this.#replica.readPosition();
    const known = this.#knownPosition();
    let head = await fetchHead(primary, known);
    // The primary has confirmed a change of this daemon meanwhile. Its new history possibly lacks this change, so the check runs again.
    if (head && known && this.#newest && this.#newest.epoch !== head.epoch && this.#newest.revision > known.revision) return this.#align();
    const kind = known && divergenceKind(known, head, this.#divergence !== undefined || this.#replica.isDiverged);
    if (kind) throw await this.#diverge(kind, known, head);
    if (!head) {
      log.warn("the primary of the key store is empty, so the daemon creates its tables");
      await primary.write(...createTables(randomUUID(), randomUUID()));
      head = (await fetchHead(primary, known)) as Head;
    }
    this.#noteClock(head);
    this.#newest = newerOf(
      { epoch: head.epoch, revision: head.revision, mark: head.mark },
      head.epoch === this.#newest?.epoch ? this.#newest : undefined,
    );
    if (!position) await this.#renew("there is no replica");
    // Keeps own changes that the new replica lacks: the revisions of the new history are higher than all earlier revisions.
    else if (position.epoch !== head.epoch || !this.#hasOwnRows)
      await this.#renew("another daemon resynced the primary, which has all changes of this daemon");
    else if (position.revision < head.oldest) await this.#renew("the replica is older than all revisions that the primary keeps");
    else if (head.revision > position.revision) await this.#catchUp(head, position);
    else this.#behindSinceMs = undefined;
    if (this.#behindSinceMs === undefined) this.#alikeAtMs = performance.now();
  }

  #knownPosition(): Position | undefined {
    return this.#hasOwnRows ? newerOf(this.#newest, this.#replica.readPosition()) : this.#newest;
  }

  /** Stores the difference between the primary and this daemon. Returns the error of the sync. */
  async #diverge(kind: Divergence["kind"], known: Position, head: Head | undefined): Promise<DivergedError> {
    const { primary, ownRows, onDivergence } = this.#options;
    const state = JSON.stringify([kind, known, head?.mark]);
    if (this.#divergence && state === this.#divergedState) return new DivergedError(this.#divergence);
    const reader = this.#replica.readPosition() && this.#replica.reader;
    const marks = [...this.#ownPositions, ...(reader?.marks() ?? [])];
    const commonRevision = head ? await commonRevisionOf(primary, marks) : 0;
    const rows = rowsOf(reader?.newestAfter(commonRevision, mostDescribedRows), ownRows());
    const before = this.#divergence;
    const divergence = describeDivergence(kind, { known, commonRevision, rows });
    this.#divergence = divergence;
    this.#divergedState = state;
    this.#divergedEpoch = head?.epoch;
    this.#replica.isDiverged = true;
    // Reports only another kind or number. A change that another daemon makes in the primary usually changes neither.
    if (before?.kind !== kind || before.missingCount !== divergence.missingCount) onDivergence(divergence);
    return new DivergedError(divergence);
  }

  /** Writes the rows of this daemon to the primary. Throws CHANGE_CONFLICT if the primary has changed since `head`. */
  async #writeRows(known: Position, head: Head | undefined): Promise<void> {
    const { source, ownRows } = this.#options;
    const { reader } = this.#replica;
    if (!this.#replica.readPosition() || !reader || !this.#hasOwnRows)
      throw new ApiError(
        "KEY_STORE_UNAVAILABLE",
        "The resync cannot use the rows of this daemon, because its replica is incomplete. Nothing was changed. Run the resync on another daemon.",
      );
    // Without a row of the missing revisions, the rows of this daemon would delete newer changes that other daemons possibly made.
    if (this.#divergence?.missing.length === 0)
      throw new ApiError(
        "INDEX_NOT_DIVERGED",
        "The resync cannot restore the missing revisions, because this daemon has no row of them. Nothing was changed. Run the resync on another daemon, or use accept-primary.",
      );
    const rows = rowsOf(reader.allRows(), ownRows());
    await writeRows(source, { known, head, rows, marks: reader.marks(), ownPositions: this.#ownPositions });
    // If the daemon knows its newest position only from a response, the history that it has written can end before this position.
    this.#newest = undefined;
  }

  #noteClock(head: Head): void {
    const receivedAtMs = performance.now();
    this.#clock = () => head.now_ms + performance.now() - receivedAtMs;
  }

  async #catchUp(head: Head, before: Position): Promise<void> {
    try {
      await this.#replica.sync();
      this.#failuresInRow = 0;
    } catch (error) {
      this.#failuresInRow += 1;
      const { message } = error as Error;
      if (!damage.test(message) && this.#failuresInRow < mostFailedSyncs) {
        // A failed sync can have written changes, such as the revocation of a key. A diverged daemon would not read them later.
        await this.#readMore(head, before);
        throw new Error(`responds, but its changes cannot be fetched: ${message}`, { cause: error });
      }
      await this.#renew(`it cannot be synced (${message})`);
      return;
    }
    const reader = await this.#readMore(head, before);
    if (reader.readPosition().revision >= head.revision) {
      this.#behindSinceMs = undefined;
      return;
    }
    this.#behindSinceMs ??= performance.now();
    if (performance.now() - this.#behindSinceMs > stalledAfterMs) await this.#renew("it receives no newer changes of the primary");
  }

  /** Reads the changes that a sync has written after the position `before`. Throws if the changes belong to another history. */
  async #readMore(head: Head, before: Position): Promise<ReplicaReader> {
    const reader = this.#replica.reader as ReplicaReader;
    // Detects a primary that was restored or resynced between the check and the sync. The next check then reports the reason.
    this.#hasOwnRows = reader.follows(before) && (reader.readPosition().revision < head.revision || reader.follows(head));
    if (!this.#hasOwnRows) throw new Error("was restored or resynced during a sync");
    await this.#options.onMore(reader);
    this.#forgetOwn(reader);
    return reader;
  }

  /** Fetches a new replica. The current replica stays in use until the new replica is complete. */
  async #renew(why: string, { isAccepted = false } = {}): Promise<void> {
    const isFirst = !this.#replica.reader;
    if (!isFirst) this.#options.log.warn({ why }, "the daemon fetches a new replica of the key store");
    const reader = await this.#replica.fetchAgain();
    this.#failuresInRow = 0;
    this.#behindSinceMs = undefined;
    if (!isFirst) this.#renewals += 1;
    this.#hasOwnRows = true;
    if (isAccepted) this.#newest = reader.readPosition();
    await this.#options.onAnother(reader, isAccepted);
    this.#forgetOwn(reader);
  }

  /** Forgets the positions of own changes that the replica contains. */
  #forgetOwn(reader: ReplicaReader): void {
    const { epoch, revision } = reader.readPosition();
    this.#ownPositions = this.#ownPositions.filter((own) => own.epoch === epoch && own.revision > revision);
  }
}

/** Returns the text of an error. Messages put the words "the primary of the key store" before this text. */
function problemOf(error: Error): string {
  return error instanceof NewerStateError
    ? `has schema ${error.found}, and this runtimed supports schemas up to ${error.supported}: upgrade runtimed`
    : error.message;
}
