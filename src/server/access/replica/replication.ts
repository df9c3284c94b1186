import { randomUUID } from "node:crypto";
import type { PrimarySource } from "../../config/primary-source.js";
import type { Log } from "../../log/log.js";
import type { ReplicaState } from "../key-store.js";
import { NewerStateError } from "../../config/newer-state-error.js";
import { PrimaryError, type Primary } from "./primary-client.js";
import { assertSupportedPrimary, createTables, readHead, type Position } from "./primary-sql.js";
import { ReplicaReader, type ReplicaFolder } from "./replica-database.js";
import { ReplicaSyncer } from "./replica-syncer.js";

/** Time after which the daemon fetches a complete new replica, if all syncs succeed but the replica stays behind the primary. */
const stalledAfterMs = 10_000;
/** Number of consecutive failed syncs after which the daemon fetches a complete new replica, if the primary responds. */
const mostFailedSyncs = 3;
/** Minimum pause after a failed sync. The pause limits the rate of requests to a failing primary. */
const leastPauseAfterFailureMs = 500;
/** Matches the error messages of libsql for damaged files. */
const damage = /wal_index|malformed|not a database|corrupt|disk image/i;

export interface ReplicationOptions {
  readonly source: PrimarySource;
  readonly primary: Primary;
  readonly folder: ReplicaFolder;
  /** Called when the current replica contains new changes. */
  readonly onMore: (reader: ReplicaReader) => Promise<void>;
  /**
   * Called when a new replica has replaced the previous one. `isDiverged` is true if the primary lacks changes that the previous replica
   * contained.
   */
  readonly onAnother: (reader: ReplicaReader, isDiverged: boolean) => Promise<void>;
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

/** Newest position of the primary. */
interface Head extends Position {
  /** Oldest revision that the primary keeps. */
  readonly oldest: number;
  /** Mark that the primary stores for the requested revision. Null if the primary does not store that revision. */
  readonly markThere: string | null;
}

/**
 * Problem of the primary that only an operator can solve. Messages put the words "the primary" before the text, so the text begins with a
 * verb.
 */
class PrimaryAlarm extends Error {}

/** Keeps a replica equal to the primary. At each interval, requests the newest revision of the primary and fetches newer changes. */
export class Replication {
  readonly #options: ReplicationOptions;
  readonly #ending = new AbortController();
  #reader: ReplicaReader | undefined;
  #syncer: ReplicaSyncer;
  /** Clock of the primary at its last response. Undefined while the primary lacks the keys of this daemon. */
  #clock: KnownPrimary["nowMs"] | undefined;
  #newest: Position | undefined;
  #problem: string | undefined = "has not responded yet";
  #newerState: NewerStateError | undefined;
  #alikeAtMs: number | undefined;
  #behindSinceMs: number | undefined;
  #failuresInRow = 0;
  #failedSyncs = 0;
  #renewals = 0;
  #running: Promise<void> = Promise.resolve();
  #endPause: () => void = () => undefined;
  /** True if the next sync starts without a pause. */
  #isHurried = false;

  constructor(options: ReplicationOptions) {
    this.#options = options;
    this.#syncer = this.#syncerOf(options.folder.currentFile);
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

  /** Error of the last sync about a newer schema. Undefined if the schema is supported. */
  get newerState(): NewerStateError | undefined {
    return this.#newerState;
  }

  get hasReplica(): boolean {
    return this.#reader !== undefined;
  }

  get state(): ReplicaState {
    const lagSeconds = this.#alikeAtMs === undefined ? undefined : (performance.now() - this.#alikeAtMs) / 1000;
    return { lagSeconds, failedSyncs: this.#failedSyncs, renewals: this.#renewals };
  }

  /** Opens the stored replica. Resolves with false if the replica is missing or damaged. Throws NewerStateError for a newer schema. */
  async open(): Promise<boolean> {
    const { folder, log, onAnother } = this.#options;
    if (!folder.hasCurrent) return false;
    try {
      this.#reader = new ReplicaReader(folder.currentFile);
      await onAnother(this.#reader, false);
      return true;
    } catch (error) {
      if (error instanceof NewerStateError) throw error;
      log.error({ err: error }, "the replica of the key store is damaged; it is deleted and fetched again");
      this.#reader?.close();
      this.#reader = undefined;
      folder.removeCurrent();
      return false;
    }
  }

  /** Syncs the replica once, then at each interval in the background. Resolves after the first sync. */
  async begin(): Promise<void> {
    const first = this.#once();
    this.#running = this.#goOn(first);
    await first;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#endPause();
    await this.#syncer.stop();
    await this.#running;
    this.#reader?.close();
    this.#reader = undefined;
  }

  /** Adds the position of a change that this daemon made and the primary confirmed. */
  noteOwn(position: Position): void {
    this.#newest = newerOf(position, this.#newest);
  }

  /**
   * Starts the next sync without a pause, also while a sync runs. The replica then contains the newest changes if the daemon restarts while
   * the primary is unreachable.
   */
  hurry(): void {
    this.#isHurried = true;
    this.#endPause();
  }

  /** Throws if the current replica is not readable. */
  assertReadable(): void {
    this.#reader?.readPosition();
  }

  async #goOn(first: Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    const { syncIntervalMs } = this.#options.source;
    await first;
    while (!signal.aborted) {
      const pauseMs = this.#problem === undefined ? syncIntervalMs : Math.max(syncIntervalMs, leastPauseAfterFailureMs);
      if (!this.#isHurried) await this.#pause(pauseMs);
      this.#isHurried = false;
      if (!signal.aborted) await this.#once();
    }
  }

  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs).unref();
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Syncs the replica once. After a failure, stores and logs the error instead of throwing. */
  async #once(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#align();
      if (this.#problem !== undefined) log.info("the keys are those of the primary");
      this.#problem = undefined;
      this.#newerState = undefined;
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      this.#failedSyncs += 1;
      if (error instanceof PrimaryAlarm || error instanceof NewerStateError) this.#clock = undefined;
      this.#newerState = error instanceof NewerStateError ? error : undefined;
      const problem = problemOf(error as Error);
      if (problem !== this.#problem) log.error({ err: error }, `the primary of the key store ${problem}; keys that are known here go on`);
      this.#problem = problem;
    }
  }

  async #align(): Promise<void> {
    const position = this.#readPosition();
    const known = newerOf(this.#newest, position);
    const head = await this.#readHead(known);
    const isSetBack = known !== undefined && head.markThere !== known.mark && known.revision >= head.oldest;
    this.#newest = isSetBack ? known : newerOf(positionOf(head), this.#newest);
    if (isSetBack) await this.#renew("the primary was set back to an older state", { isDiverged: true });
    else if (!position) await this.#renew("there is no replica", { isDiverged: false });
    else if (position.revision < head.oldest)
      await this.#renew("the replica is older than all revisions that the primary keeps", { isDiverged: false });
    else if (head.revision > position.revision) await this.#catchUp(head);
    else this.#behindSinceMs = undefined;
    if (isSetBack) this.#newest = positionOf(head);
    if (this.#behindSinceMs === undefined) this.#alikeAtMs = performance.now();
  }

  /** Returns the replica's position, or undefined if no readable replica exists. */
  #readPosition(): Position | undefined {
    if (!this.#reader || !this.#options.folder.hasCurrent) return undefined;
    try {
      return this.#reader.readPosition();
    } catch (error) {
      this.#options.log.error({ err: error }, "the replica of the key store cannot be read; it is fetched again");
      return undefined;
    }
  }

  /** Returns the state of the primary. Throws PrimaryAlarm if the primary lacks the keys of this daemon. */
  async #readHead(known: Position | undefined): Promise<Head> {
    const { primary, log } = this.#options;
    const rows = await this.#askHead(known);
    if (rows.length === 0) {
      if (known)
        throw new PrimaryAlarm(
          "is empty, though it had keys: its data was lost. This daemon keeps its keys. Restore the primary from a backup, or stop all daemons and delete the folder replica in each state directory to start without keys",
        );
      log.warn("the primary of the key store is empty: its tables are made");
      await primary.write(...createTables(randomUUID(), randomUUID()));
      return this.#readHead(known);
    }
    const head = rows[0] as unknown as Head & { schema_version: number; now_ms: number };
    assertSupportedPrimary("The primary of the key store", head.schema_version);
    if (known && head.epoch !== known.epoch)
      throw new PrimaryAlarm(
        "has other keys than before: RUNTIME_AUTH_DB_SYNC_URL points to another primary, or the primary was emptied and used again. This daemon keeps its keys. To use the keys of the primary, stop the daemon and delete the folder replica in its state directory",
      );
    const receivedAtMs = performance.now();
    this.#clock = () => head.now_ms + performance.now() - receivedAtMs;
    return head;
  }

  async #askHead(known: Position | undefined): Promise<readonly object[]> {
    try {
      const [rows = []] = await this.#options.primary.read(readHead(known?.revision ?? 0));
      return rows;
    } catch (error) {
      if (error instanceof PrimaryError && error.kind === "without-tables") return [];
      throw error;
    }
  }

  async #catchUp(head: Head): Promise<void> {
    try {
      await this.#syncer.sync();
      this.#failuresInRow = 0;
    } catch (error) {
      this.#failuresInRow += 1;
      const { message } = error as Error;
      if (!damage.test(message) && this.#failuresInRow < mostFailedSyncs)
        throw new Error(`responds, but its changes cannot be fetched: ${message}`, { cause: error });
      await this.#renew(`it cannot be synced (${message})`, { isDiverged: false });
      return;
    }
    const reader = this.#reader as ReplicaReader;
    await this.#options.onMore(reader);
    if (reader.readPosition().revision >= head.revision) {
      this.#behindSinceMs = undefined;
      return;
    }
    this.#behindSinceMs ??= performance.now();
    if (performance.now() - this.#behindSinceMs > stalledAfterMs) await this.#renew("it gets no changes any more", { isDiverged: true });
  }

  /** Fetches a new replica. The current replica stays in use until the new replica is complete. */
  async #renew(why: string, { isDiverged }: { isDiverged: boolean }): Promise<void> {
    const { folder, log } = this.#options;
    const isFirst = !this.#reader;
    if (!isFirst) log.warn({ why }, "the replica of the key store is fetched again");
    await this.#syncer.stop();
    const file = folder.prepareNext();
    const fresh = this.#syncerOf(file);
    this.#syncer = fresh;
    try {
      await fresh.sync();
    } finally {
      await fresh.stop();
    }
    new ReplicaReader(file).close();
    this.#reader?.close();
    this.#reader = undefined;
    folder.takeNext();
    this.#syncer = this.#syncerOf(folder.currentFile);
    this.#reader = new ReplicaReader(folder.currentFile);
    this.#failuresInRow = 0;
    this.#behindSinceMs = undefined;
    if (!isFirst) this.#renewals += 1;
    await this.#options.onAnother(this.#reader, isDiverged);
  }

  #syncerOf(file: string): ReplicaSyncer {
    const { url, token } = this.#options.source;
    return new ReplicaSyncer({ file, url, token });
  }
}

function positionOf({ epoch, revision, mark }: Head): Position {
  return { epoch, revision, mark };
}

function newerOf(one: Position | undefined, other: Position | undefined): Position | undefined {
  return one && other ? (one.revision >= other.revision ? one : other) : (one ?? other);
}

/** Returns the text of an error. Messages put the words "the primary of the key store" before this text. */
function problemOf(error: Error): string {
  return error instanceof NewerStateError
    ? `has schema ${error.found}, and this runtimed supports schemas up to ${error.supported}: upgrade runtimed`
    : error.message;
}
