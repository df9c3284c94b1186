import { existsSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { ApiError } from "../../shared/api-error.js";
import type { Permission, Role } from "../../shared/permissions.js";
import type { Log } from "../observe/log.js";
import { openKeyDatabase } from "./key-database.js";

export interface StoredKey {
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  /** Unix seconds, as all times here. */
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  readonly expiresAt: number | undefined;
}

export interface NewKey {
  readonly name: string;
  readonly keyPrefix: string;
  readonly hash: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
}

interface KeyRow {
  id: number;
  name: string;
  key_prefix: string;
  hash: string;
  role: Role;
  permissions: string;
  namespaces: string;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
}

/** How long uses are collected before they are written in one transaction; a crash loses at most these. */
const usageWriteIntervalMs = 5_000;
/** Sent as Retry-After when the store cannot be written. */
const retryAfterSeconds = 5;

/**
 * The API keys, hashes only. All of them are held in memory, so that verifying a key reads no database; every change is
 * committed to SQLite (WAL, synchronous=FULL) before it is acknowledged.
 */
export class KeyStore {
  readonly #database: Database.Database;
  readonly #file: string;
  readonly #log: Log;
  readonly #byHash = new Map<string, StoredKey>();
  readonly #hashById = new Map<number, string>();
  readonly #unwrittenUses = new Map<number, number>();
  readonly #usageTimer: NodeJS.Timeout;

  /** Opens `keys.db` in the state directory, creating it; throws when the file is damaged or of a newer version. */
  constructor(options: { stateDirectory: string; log: Log }) {
    this.#file = path.join(options.stateDirectory, "keys.db");
    this.#log = options.log;
    this.#database = openKeyDatabase(this.#file);
    for (const row of this.#database.prepare<[], KeyRow>("SELECT * FROM keys WHERE revoked_at IS NULL ORDER BY id").iterate())
      this.#remember(row.hash, fromRow(row));
    this.#usageTimer = setInterval(() => this.#writeUses(), usageWriteIntervalMs).unref();
  }

  /** The key with that hash, expired ones included; undefined when unknown or revoked. */
  findByHash(hash: string): StoredKey | undefined {
    return this.#byHash.get(hash);
  }

  /** The key with that id, expired ones included; undefined when unknown or revoked. */
  find(id: number): StoredKey | undefined {
    const hash = this.#hashById.get(id);
    return hash === undefined ? undefined : this.#byHash.get(hash);
  }

  /** All keys that are not revoked, oldest first. */
  list(): StoredKey[] {
    return [...this.#byHash.values()].toSorted((a, b) => a.id - b.id);
  }

  get keyCount(): number {
    return this.#byHash.size;
  }

  /** Adds a key; returns when it is on disk. */
  create(key: NewKey): StoredKey {
    const stored = this.#write(() => this.#insert(key));
    this.#remember(key.hash, stored);
    return stored;
  }

  /**
   * Adds a twin and lets the key with the id end at `endsAt`, at once if that is not later than the twin's creation; returns the twin when
   * both are on disk. Undefined, and nothing changed, when no active key has the id.
   */
  rotate(id: number, twin: NewKey, endsAt: number): StoredKey | undefined {
    const hash = this.#hashById.get(id);
    const key = this.find(id);
    if (hash === undefined || key === undefined) return undefined;
    const endsNow = endsAt <= twin.createdAt;
    const change = this.#database.transaction(() => {
      if (endsNow) this.#setRevoked(id, twin.createdAt);
      else this.#database.prepare("UPDATE keys SET expires_at = ? WHERE id = ?").run(endsAt, id);
      return this.#insert(twin);
    });
    const stored = this.#write(() => change());
    if (endsNow) this.#forget(id, hash);
    else this.#byHash.set(hash, { ...key, expiresAt: endsAt });
    this.#remember(twin.hash, stored);
    return stored;
  }

  /** Revokes a key; returns when that is on disk. False when no active key has the id. */
  revoke(id: number, now: number): boolean {
    const hash = this.#hashById.get(id);
    if (hash === undefined) return false;
    this.#write(() => this.#setRevoked(id, now));
    this.#forget(id, hash);
    return true;
  }

  /** Notes that a key was used; written with the next batch. */
  markUsed(id: number, now: number): void {
    const hash = this.#hashById.get(id);
    const key = this.find(id);
    if (hash === undefined || !key || key.lastUsedAt === now) return;
    this.#byHash.set(hash, { ...key, lastUsedAt: now });
    this.#unwrittenUses.set(id, now);
  }

  /** Whether the store could be written now. */
  isUsable(): boolean {
    try {
      if (!existsSync(this.#file)) return false;
      this.#database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return true;
    } catch {
      return false;
    }
  }

  /** Throws when the store cannot be read. */
  assertReadable(): void {
    this.#database.prepare("SELECT count(*) FROM keys").get();
  }

  close(): void {
    clearInterval(this.#usageTimer);
    this.#writeUses();
    this.#database.close();
  }

  #remember(hash: string, key: StoredKey): void {
    this.#byHash.set(hash, key);
    this.#hashById.set(key.id, hash);
  }

  #forget(id: number, hash: string): void {
    this.#byHash.delete(hash);
    this.#hashById.delete(id);
    this.#unwrittenUses.delete(id);
  }

  #insert(key: NewKey): StoredKey {
    const insert = this.#database.prepare<unknown[], KeyRow>(
      "INSERT INTO keys (name, key_prefix, hash, role, permissions, namespaces, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
    );
    // Not by get(), which stops at the first row, before the commit, and never tells when that fails.
    const [row] = insert.all(
      key.name,
      key.keyPrefix,
      key.hash,
      key.role,
      JSON.stringify(key.permissions),
      JSON.stringify(key.namespaces),
      key.createdAt,
      key.expiresAt ?? null,
    );
    return fromRow(row as KeyRow);
  }

  #setRevoked(id: number, now: number): void {
    this.#database.prepare("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL").run(now, id);
  }

  #write<Result>(change: () => Result): Result {
    try {
      return change();
    } catch (cause) {
      if (cause instanceof Database.SqliteError && cause.code === "SQLITE_FULL")
        throw new ApiError(
          "INSUFFICIENT_STORAGE",
          "The disk that holds the key store is full; nothing was changed. Free some space and try again.",
          { cause },
        );
      throw new ApiError(
        "KEY_STORE_UNAVAILABLE",
        "The key store cannot be written; nothing was changed. The daemon's log has the reason.",
        { cause, retryAfterSeconds },
      );
    }
  }

  #writeUses(): void {
    if (this.#unwrittenUses.size === 0) return;
    try {
      const update = this.#database.prepare("UPDATE keys SET last_used_at = ? WHERE id = ?");
      this.#database.transaction(() => {
        for (const [id, usedAt] of this.#unwrittenUses) update.run(usedAt, id);
      })();
      this.#unwrittenUses.clear();
    } catch (error) {
      // Requests must not fail for this; the uses stay collected for the next batch.
      this.#log.warn({ err: error }, "the last use of keys could not be written");
    }
  }
}

function fromRow(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    keyPrefix: row.key_prefix,
    role: row.role,
    permissions: JSON.parse(row.permissions) as Permission[],
    namespaces: JSON.parse(row.namespaces) as string[],
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
  };
}
