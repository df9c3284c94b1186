import { randomUUID } from "node:crypto";
import type { PrimarySource } from "../../config/primary-source.js";
import type { Log } from "../../log/log.js";
import type { ReplicaState } from "../key-store.js";
import { NewerStateError } from "../../config/newer-state-error.js";
import { PrimaryError, type Primary } from "./primary-client.js";
import { assertSupportedPrimary, createTables, readHead, type Position } from "./primary-sql.js";
import { ReplicaReader, type ReplicaFolder } from "./replica-database.js";
import { ReplicaSyncer } from "./replica-syncer.js";

/** If syncs succeed and the replica stays behind the primary for this time, the replica is fetched again. */
const stalledAfterMs = 10_000;
/** The replica is fetched again after this many consecutive failed syncs while the primary responds. */
const mostFailedSyncs = 3;
/** Minimum pause after a failure. */
const leastPauseAfterFailureMs = 500;
/** Matches the messages of libsql for files that it cannot use. */
const damage = /wal_index|malformed|not a database|corrupt|disk image/i;

export interface ReplicationOptions {
  readonly source: PrimarySource;
  readonly primary: Primary;
  readonly folder: ReplicaFolder;
  /** Called when the replica contains new changes. */
  readonly onMore: (reader: ReplicaReader) => Promise<void>;
  /** Called when a new replica is in use. `isDiverged`: the primary has lost changes of the previous replica. */
  readonly onAnother: (reader: ReplicaReader, isDiverged: boolean) => Promise<void>;
  readonly log: Log;
}

/** State of the primary at its last response. */
export interface KnownPrimary {
  readonly epoch: string;
  /** Returns an estimate of the primary's clock in Unix milliseconds. The estimate is never later than the actual time. */
  readonly nowMs: () => number;
}

interface Head {
  readonly epoch: string;
  readonly revision: number;
  /** Mark of the requested revision; null if unknown. */
  readonly mark: string | null;
}

/** A problem of the primary that requires an operator. The message completes a sentence that begins with "the primary". */
class PrimaryAlarm extends Error {}

/** Keeps a replica equal to its primary: requests the newest revision each interval and fetches newer ones. */
export class Replication {
  readonly #options: ReplicationOptions;
  readonly #ending = new AbortController();
  #reader: ReplicaReader | undefined;
  #syncer: ReplicaSyncer;
  #known: KnownPrimary | undefined;
  #problem: string | undefined = "it was not asked yet";
  #newerState: NewerStateError | undefined;
  #alikeAtMs: number | undefined;
  #behindSinceMs: number | undefined;
  #failuresInRow = 0;
  #failedSyncs = 0;
  #renewals = 0;
  #running: Promise<void> = Promise.resolve();
  #endPause: () => void = () => undefined;

  constructor(options: ReplicationOptions) {
    this.#options = options;
    this.#syncer = this.#syncerOf(options.folder.currentFile);
  }

  /** The last known state of the primary. Undefined before its first response, and while it lacks the expected keys. */
  get primary(): KnownPrimary | undefined {
    return this.#known;
  }

  /** The reason why the replica differs from the primary. Completes a sentence that begins with "the primary of the key store". */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The schema error of the primary's last response, if any. */
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

  /** Opens the stored replica. Resolves with false when the replica is missing or damaged. Throws NewerStateError for a newer schema. */
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

  /** Syncs once, then continues in the background. Resolves after the first sync. */
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

  /** Fetches the newest change immediately, so that a restart without the primary still has it. */
  hurry(): void {
    this.#endPause();
  }

  /** Throws when the current replica is not readable. */
  assertReadable(): void {
    this.#reader?.readPosition();
  }

  async #goOn(first: Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    const { syncIntervalMs } = this.#options.source;
    await first;
    while (!signal.aborted) {
      const pauseMs = this.#problem === undefined ? syncIntervalMs : Math.max(syncIntervalMs, leastPauseAfterFailureMs);
      await this.#pause(pauseMs);
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

  /** Never throws. */
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
      if (error instanceof PrimaryAlarm || error instanceof NewerStateError) this.#known = undefined;
      this.#newerState = error instanceof NewerStateError ? error : undefined;
      const problem = problemOf(error as Error);
      if (problem !== this.#problem) log.error({ err: error }, `the primary of the key store ${problem}; keys that are known here go on`);
      this.#problem = problem;
    }
  }

  async #align(): Promise<void> {
    const position = this.#readPosition();
    const head = await this.#readHead(position);
    if (!position) await this.#renew("there is no replica", { isDiverged: false });
    else if (head.mark !== position.mark) await this.#renew("the primary was set back to an older state", { isDiverged: true });
    else if (head.revision > position.revision) await this.#catchUp(head);
    else this.#behindSinceMs = undefined;
    if (this.#behindSinceMs === undefined) this.#alikeAtMs = performance.now();
  }

  /** Returns undefined when no readable replica exists. */
  #readPosition(): Position | undefined {
    if (!this.#reader || !this.#options.folder.hasCurrent) return undefined;
    try {
      return this.#reader.readPosition();
    } catch (error) {
      this.#options.log.error({ err: error }, "the replica of the key store cannot be read; it is fetched again");
      return undefined;
    }
  }

  /** Throws a PrimaryAlarm when the primary lacks the keys of this daemon. */
  async #readHead(position: Position | undefined): Promise<Head> {
    const { primary, log } = this.#options;
    const rows = await this.#askHead(position);
    if (rows.length === 0) {
      if (this.#reader)
        throw new PrimaryAlarm(
          "is empty, though it had keys: its data was lost. Keys stay as they were here; restore the primary from its backup, or stop all daemons and delete the folder replica in their state directories to begin with no keys",
        );
      log.warn("the primary of the key store is empty: its tables are made");
      await primary.write(...createTables(randomUUID(), randomUUID()));
      return this.#readHead(position);
    }
    const head = rows[0] as unknown as Head & { schema_version: number; now_ms: number };
    assertSupportedPrimary("The primary of the key store", head.schema_version);
    if (position && head.epoch !== position.epoch)
      throw new PrimaryAlarm(
        "has other keys than before: RUNTIME_AUTH_DB_SYNC_URL leads to another one, or it was emptied and used again. Keys stay as they were here; to take over those that it has, stop the daemon and delete the folder replica in its state directory",
      );
    const receivedAtMs = performance.now();
    this.#known = { epoch: head.epoch, nowMs: () => head.now_ms + performance.now() - receivedAtMs };
    return head;
  }

  async #askHead(position: Position | undefined): Promise<readonly object[]> {
    try {
      const [rows = []] = await this.#options.primary.read(readHead(position?.revision ?? 0));
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
        throw new Error(`answers, but its changes cannot be fetched: ${message}`, { cause: error });
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

  /** Fetches a new replica. The current one stays in use until the new one is complete. */
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

/** Completes a sentence that begins with "the primary of the key store". */
function problemOf(error: Error): string {
  return error instanceof NewerStateError
    ? `has schema ${error.found}, and this runtimed supports schemas up to ${error.supported}: upgrade runtimed`
    : error.message;
}
