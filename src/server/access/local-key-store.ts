import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { ApiError } from "../../shared/api-error.js";
import type { Log } from "../log/log.js";
import { LocalLeaseDatabase } from "../storage/local-lease-database.js";
import { SqlLeaseStore } from "../storage/sql-lease-store.js";
import { openKeyDatabase, type KeyDatabaseOptions } from "./key-database.js";
import {
  fromRow,
  newKeyColumns,
  valuesOf,
  type KeyRow,
  type KeyStore,
  type KeyStoreState,
  type NewKey,
  type StoredKey,
} from "./key-store.js";
import { KeyCache } from "./key-cache.js";
import { LocalRecordStore } from "./local-record-store.js";

/** Interval at which the daemon writes the times of last use to the key store. A crash loses at most the times of the last 5 s. */
const usageWriteIntervalMs = 5_000;
/** Seconds in the `Retry-After` header of the response when the daemon cannot write to the key store. */
const retryAfterSeconds = 5;

/**
 * Key store in the file `keys.db` of the state directory. All keys are also in memory for lookups. Each change is committed to SQLite (WAL,
 * synchronous=FULL) before the caller receives the result.
 */
export class LocalKeyStore implements KeyStore {
  readonly #database: Database.Database;
  readonly #file: string;
  readonly #log: Log;
  readonly #table = new KeyCache();
  readonly #usageTimer: NodeJS.Timeout;
  /**
   * Largest size in bytes that the key store's file has had since the start. The daemon never makes the file smaller, so a smaller file is
   * damaged.
   */
  #fileBytes: number;
  /**
   * Description of the damage. Set when the file becomes smaller. Stays set even if the file grows again, because the lost content is still
   * missing.
   */
  #shrinkage: string | undefined;
  #isDamageLogged = false;
  /**
   * Read-only connection to the key store. While this connection is open, SQLite does not merge the write-ahead log when the writable
   * connection closes. A damaged file and its log then remain unchanged.
   */
  readonly #reader: Database.Database;
  readonly records: LocalRecordStore;
  readonly leases: SqlLeaseStore;
  readonly #leaseDatabase: LocalLeaseDatabase;

  /**
   * Opens `keys.db` in the state directory. Creates a missing file, and migrates an older schema. Throws if the file is damaged or has a
   * newer schema.
   */
  constructor(options: { stateDirectory: string; log: Log } & Pick<KeyDatabaseOptions, "migrations">) {
    this.#file = path.join(options.stateDirectory, "keys.db");
    this.#log = options.log;
    this.#database = openKeyDatabase(this.#file, {
      ...options,
      onMigrated: (migration) => this.#log.info(migration, "key store migrated to a newer schema"),
    });
    this.#reader = new Database(this.#file, { readonly: true, fileMustExist: true });
    // Reads one row, because SQLite connects to the write-ahead log only at the first read.
    this.#reader.prepare("SELECT count(*) FROM keys").get();
    this.#fileBytes = statSync(this.#file).size;
    this.records = new LocalRecordStore({ database: this.#database, write: (change) => this.#write(change) });
    this.#leaseDatabase = new LocalLeaseDatabase({
      file: path.join(options.stateDirectory, "leases.db"),
      write: (change) => this.#write(change),
    });
    this.leases = new SqlLeaseStore(this.#leaseDatabase, { id: "local", name: hostname(), run: randomUUID() });
    for (const row of this.#database.prepare<[], KeyRow>("SELECT * FROM keys WHERE revoked_at IS NULL ORDER BY id").iterate())
      this.#table.put(row.hash, fromRow(row));
    this.#usageTimer = setInterval(() => {
      this.#logDamage();
      this.#writeUses();
    }, usageWriteIntervalMs).unref();
  }

  findByHash(hash: string): StoredKey | undefined {
    return this.#table.findByHash(hash);
  }

  find(id: number): StoredKey | undefined {
    return this.#table.find(id);
  }

  list(): StoredKey[] {
    return this.#table.list();
  }

  get keyCount(): number {
    return this.#table.size;
  }

  create(key: NewKey): StoredKey {
    const stored = this.#write(() => this.#insert(key));
    this.#table.put(key.hash, stored);
    return stored;
  }

  rotate(id: number, replacement: NewKey, endsAt: number): StoredKey | undefined {
    const hash = this.#table.hashOf(id);
    const key = this.find(id);
    if (hash === undefined || key === undefined) return undefined;
    const endsNow = endsAt <= replacement.createdAt;
    const change = this.#database.transaction(() => {
      if (endsNow) this.#setRevoked(id, replacement.createdAt);
      else this.#database.prepare("UPDATE keys SET expires_at = ? WHERE id = ?").run(endsAt, id);
      return this.#insert(replacement);
    });
    const stored = this.#write(() => change());
    if (endsNow) this.#table.remove(id);
    else this.#table.put(hash, { ...key, expiresAt: endsAt });
    this.#table.put(replacement.hash, stored);
    return stored;
  }

  revoke(id: number, now: number): boolean {
    if (!this.find(id)) return false;
    this.#write(() => this.#setRevoked(id, now));
    this.#table.remove(id);
    return true;
  }

  markUsed(id: number, now: number): void {
    this.#table.markUsed(id, now);
  }

  readState(): KeyStoreState {
    const problem = this.#damage() ?? (this.#canBeWritten() ? undefined : "the key store cannot be written");
    return { mode: "local", isReadable: true, isWritable: problem === undefined, problem, divergence: undefined, replica: undefined };
  }

  async resync(): Promise<never> {
    throw new ApiError(
      "INDEX_NOT_DIVERGED",
      "A resync is not possible, because this daemon has no primary (RUNTIME_AUTH_DB_MODE=local). Nothing was changed.",
    );
  }

  assertReadable(): void {
    this.#database.prepare("SELECT count(*) FROM keys").get();
  }

  close(): void {
    clearInterval(this.#usageTimer);
    this.#writeUses();
    this.#leaseDatabase.close();
    // If the key store is damaged, leaves this read-only connection open until the process exits. The file and its log then remain
    // unchanged.
    if (this.#damage() === undefined) this.#reader.close();
    this.#database.close();
  }

  /**
   * Returns a description of the damage since the start, or undefined for an intact file. If the file is damaged, changes must fail,
   * because the next start would lose them.
   */
  #damage(): string | undefined {
    if (this.#shrinkage !== undefined) return this.#shrinkage;
    const bytes = statSync(this.#file, { throwIfNoEntry: false })?.size;
    // Does not store this description, because the operator can restore the missing file.
    if (bytes === undefined) return "the file of the key store was deleted";
    if (bytes < this.#fileBytes)
      this.#shrinkage = `the file of the key store shrank from ${this.#fileBytes} to ${bytes} bytes: another program truncated the file`;
    this.#fileBytes = Math.max(this.#fileBytes, bytes);
    return this.#shrinkage;
  }

  #logDamage(): void {
    const damage = this.#damage();
    if (damage === undefined || this.#isDamageLogged) return;
    this.#isDamageLogged = true;
    this.#log.error(
      { file: this.#file, damage },
      "the key store is damaged, so the daemon rejects changes and uses the keys in memory: stop the daemon, then restore a backup with runtimectl daemon restore FILE",
    );
  }

  #canBeWritten(): boolean {
    try {
      this.#database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return true;
    } catch {
      return false;
    }
  }

  #insert(key: NewKey): StoredKey {
    const insert = this.#database.prepare<unknown[], KeyRow>(
      `INSERT INTO keys (${newKeyColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    );
    // Uses `all()`, because `get()` stops at the first row, before the commit. With `get()`, a failed commit would cause no error.
    const [row] = insert.all(...valuesOf(key));
    return fromRow(row as KeyRow);
  }

  #setRevoked(id: number, now: number): void {
    this.#database.prepare("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL").run(now, id);
  }

  #write<Result>(change: () => Result): Result {
    try {
      const damage = this.#damage();
      if (damage !== undefined) throw new Error(`${this.#file}: ${damage}`);
      return change();
    } catch (cause) {
      if (cause instanceof Database.SqliteError && cause.code === "SQLITE_FULL")
        throw new ApiError("INSUFFICIENT_STORAGE", "The disk of the key store is full. Nothing was changed. Free disk space, then retry.", {
          cause,
        });
      throw new ApiError(
        "KEY_STORE_UNAVAILABLE",
        "The key store is not writable. Nothing was changed. The daemon's log contains the reason.",
        {
          cause,
          retryAfterSeconds,
        },
      );
    }
  }

  #writeUses(): void {
    const uses = this.#table.unwrittenUses();
    if (uses.length === 0 || this.#damage() !== undefined) return;
    try {
      const update = this.#database.prepare("UPDATE keys SET last_used_at = ? WHERE id = ?");
      this.#database.transaction(() => {
        for (const [id, usedAt] of uses) update.run(usedAt, id);
      })();
      this.#table.forgetUses(uses);
    } catch (error) {
      // Only logs the error, because a request must not fail if the use of its key cannot be recorded. The next batch retries the
      // unsaved last-used times.
      this.#log.warn({ err: error }, "the times of last use of keys could not be written; the daemon tries again");
    }
  }
}
