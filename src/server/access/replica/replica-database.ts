import Database from "better-sqlite3";
import { assertSupportedPrimary, type Position, type ReplicatedKeyRow } from "./primary-sql.js";
import type { RecordRow } from "./record-sql.js";
import type { IndexRows } from "./divergence.js";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Maximum time that SQLite waits for a lock of the database file. The time is short, because the wait blocks the event loop. */
const busyTimeoutMs = 200;

/** A changed key with the identifier of the daemon that changed the key. */
interface ChangedKeyRow extends ReplicatedKeyRow {
  /** Random identifier of the daemon run that made the change. Null if the replica no longer stores this revision. */
  instance: string | null;
}

/**
 * Reads the file of the replica while the syncer writes it. Uses SQLite in read-only mode. The package libsql is unsuitable: it returns old
 * rows for reused statements, and cannot open a replica while the primary is unreachable.
 */
export class ReplicaReader {
  readonly #database: Database.Database;
  readonly #position: Database.Statement<[], Position>;

  /**
   * Opens the replica's file. Throws NewerStateError for a newer schema, and another Error for a missing file, a damaged file or missing
   * tables.
   */
  constructor(file: string) {
    this.#database = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      this.#database.pragma("trusted_schema = OFF");
      const damage = this.#database.pragma("quick_check(1)", { simple: true });
      if (damage !== "ok") throw new Error(String(damage));
      this.#position = this.#database.prepare<[], Position>(
        "SELECT epoch, revision, mark FROM key_revisions, key_store ORDER BY revision DESC LIMIT 1",
      );
      this.readPosition();
      assertSupportedPrimary(`The replica of the key store ${file}`, this.#schemaVersion());
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Returns the replica's position: the newest revision and its mark. */
  readPosition(): Position {
    const position = this.#position.get();
    if (!position) throw new Error("the replica has no revision");
    return position;
  }

  /**
   * Returns at most `count` changed keys in the order of the changes, including revoked keys. Starts after the change of key `id` in
   * `revision`.
   */
  changedAfter(revision: number, id: number, count: number): ChangedKeyRow[] {
    return this.#database
      .prepare<[number, number, number], ChangedKeyRow>(
        `SELECT keys.*, instance FROM keys LEFT JOIN key_revisions USING (revision) WHERE (revision, id) > (?, ?)
          ORDER BY revision, id LIMIT ?`,
      )
      .all(revision, id, count);
  }

  /** Returns at most `count` keys that are not revoked, sorted by id. */
  activeAfter(id: number, count: number): ReplicatedKeyRow[] {
    return this.#database
      .prepare<[number, number], ReplicatedKeyRow>("SELECT * FROM keys WHERE id > ? AND revoked_at IS NULL ORDER BY id LIMIT ?")
      .all(id, count);
  }

  /** Returns at most `count` records that follow the given position, including removed records. The order is revision, kind, key. */
  recordsAfter({ revision, kind, key }: Omit<RecordRow, "value">, count: number): RecordRow[] {
    if (!this.#hasRecords()) return [];
    return this.#database
      .prepare<[number, string, string, number], RecordRow>(
        "SELECT * FROM records WHERE (revision, kind, key) > (?, ?, ?) ORDER BY revision, kind, key LIMIT ?",
      )
      .all(revision, kind, key, count);
  }

  /** Returns the newest keys and records after a revision, at most `count` of each, including revoked keys and removed records. */
  newestAfter(revision: number, count: number): IndexRows {
    const select = <Row>(table: "keys" | "records") =>
      this.#database
        .prepare<[number, number], Row>(`SELECT * FROM ${table} WHERE revision > ? ORDER BY revision DESC LIMIT ?`)
        .all(revision, count);
    return { keys: select<ReplicatedKeyRow>("keys"), records: this.#hasRecords() ? select<RecordRow>("records") : [] };
  }

  /** Returns all keys and records, including revoked keys and removed records. */
  allRows(): IndexRows {
    return this.newestAfter(-1, -1);
  }

  /** Returns all kept revisions with their marks, newest first. */
  marks(): Omit<Position, "epoch">[] {
    return this.#database.prepare<[], Omit<Position, "epoch">>("SELECT revision, mark FROM key_revisions ORDER BY revision DESC").all();
  }

  /** Returns whether the history of the replica contains this position. Also returns true if the replica keeps only newer revisions. */
  follows({ revision, mark }: Position): boolean {
    return (
      this.#database
        .prepare<[number, string, number], number>(
          `SELECT 1 FROM key_revisions WHERE revision = ? AND mark = ? OR ? < (SELECT min(revision) FROM key_revisions) LIMIT 1`,
        )
        .get(revision, mark, revision) !== undefined
    );
  }

  #hasRecords(): boolean {
    return this.#database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'records'").get() !== undefined;
  }

  #schemaVersion(): number {
    return this.#database.prepare<[], number>("SELECT schema_version FROM key_store").pluck().get() ?? 0;
  }

  close(): void {
    this.#database.close();
  }
}

/**
 * Folder that contains the replicas, readable only for the daemon's user. The folder `current` contains the replica in use. The syncer
 * fetches a new replica into `next`, so that a complete replica always exists.
 */
export class ReplicaFolder {
  readonly #folder: string;

  /**
   * Opens the folder of the replicas and creates a missing folder. If a crash interrupted the replacement of a replica, restores the
   * previous replica.
   */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    if (!existsSync(this.#path("current")) && existsSync(this.#path("old"))) renameSync(this.#path("old"), this.#path("current"));
    this.#remove("old");
    this.#remove("next");
  }

  get currentFile(): string {
    return path.join(this.#path("current"), "keys.db");
  }

  get hasCurrent(): boolean {
    return existsSync(this.currentFile);
  }

  /**
   * True if an earlier sync found that the primary lacks rows of the current replica. A marker file in the folder of the replica stores
   * this state, so a new replica starts without the marker.
   */
  get isDiverged(): boolean {
    return existsSync(this.#divergedFile);
  }

  set isDiverged(isDiverged: boolean) {
    if (isDiverged) writeFileSync(this.#divergedFile, "");
    else rmSync(this.#divergedFile, { force: true });
  }

  get #divergedFile(): string {
    return path.join(this.#path("current"), "diverged");
  }

  /** Creates an empty folder `next` and returns the path of the database file in it. */
  prepareNext(): string {
    this.#remove("next");
    mkdirSync(this.#path("next"), { mode: 0o700 });
    return path.join(this.#path("next"), "keys.db");
  }

  /** Replaces the current replica by the replica in `next`. The caller must close both replicas in all processes first. */
  takeNext(): void {
    this.#remove("old");
    if (existsSync(this.#path("current"))) renameSync(this.#path("current"), this.#path("old"));
    renameSync(this.#path("next"), this.#path("current"));
    this.#remove("old");
  }

  removeCurrent(): void {
    this.#remove("current");
  }

  #path(name: "current" | "next" | "old"): string {
    return path.join(this.#folder, name);
  }

  #remove(name: "current" | "next" | "old"): void {
    rmSync(this.#path(name), { recursive: true, force: true });
  }
}
