import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { NewerStateError } from "../config/newer-state-error.js";
import {
  keyMigrations,
  schemaOf,
  assertSupported,
  createTables,
  FailedMigrationError,
  migrateKeyDatabase,
  readSchema,
  type KeyMigration,
  type FinishedMigration,
} from "./key-migrations.js";
import { syncFolder } from "./sync-folder.js";
import { assertLogSound, DamagedLogError, hasLostDatabase } from "./write-ahead-log.js";

/** Waiting for a lock blocks the event loop, so it is short. */
const busyTimeoutMs = 200;
const mostPages = 0x7f_ff_ff_ff;

/** What SQLite says when a file is not what it was, as opposed to a disk or rights that keep it from being opened. */
const damageCodes = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB"]);

/** Not what this program wrote. */
class DamagedStoreError extends Error {}

export interface KeyDatabaseOptions {
  /** Tests add steps to the released ones. */
  readonly migrations?: readonly KeyMigration[];
  /** Called after a migration was committed. */
  readonly onMigrated?: (migration: FinishedMigration) => void;
}

/**
 * Opens the key store's file, creating it or migrating it to the newest schema. Throws NewerStateError when its schema is higher, otherwise
 * an Error that tells the operator what to do.
 */
export function openKeyDatabase(file: string, { migrations = keyMigrations, onMigrated }: KeyDatabaseOptions = {}): Database.Database {
  let database: Database.Database | undefined;
  try {
    if (!existsSync(file)) createStore(file, migrations);
    chmodSync(file, 0o600);
    assertSoundFile(file, schemaOf(migrations));
    database = new Database(file, { timeout: busyTimeoutMs });
    // From here on the file is changed.
    database.pragma("trusted_schema = OFF");
    database.pragma("journal_mode = WAL");
    // A re-opened WAL database falls back to NORMAL, which loses acknowledged commits on power loss.
    database.pragma("synchronous = FULL");
    const migration = migrateKeyDatabase(database, migrations);
    if (migration) onMigrated?.(migration);
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof NewerStateError) throw cause;
    throw new Error(`The key store ${file} cannot be opened (${(cause as Error).message}). ${advice(cause)}`, { cause });
  }
}

/** A full disk must not lead anybody to put an older store in the place of a sound one. */
function advice(cause: unknown): string {
  if (cause instanceof FailedMigrationError)
    return `It still has schema ${cause.from}, and ${cause.backup} is a copy of it. Make sure that its disk has room, and start again; if that fails, start the previous version of runtimed.`;
  const isDamaged =
    cause instanceof DamagedStoreError ||
    cause instanceof DamagedLogError ||
    (cause instanceof Database.SqliteError && damageCodes.has(cause.code.split("_").slice(0, 2).join("_")));
  return isDamaged
    ? "It was left untouched: restore it from a backup with runtimectl daemon restore FILE, or move keys.db and the files keys.db-* beside it away to start with no keys."
    : "Make sure that its disk has room and works and that runtimed may write there, then start again; the keys are still in it.";
}

/**
 * Copies the store as it is at one instant, while others write it, into a new file that needs none beside it; returns how many keys are in
 * force there. Throws NewerStateError, or an Error when the store is damaged.
 */
export async function copyKeyDatabase(file: string, target: string): Promise<number> {
  createPrivate(target);
  const source = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    assertSupported(source, schemaOf(keyMigrations));
    // After the first pages all of the rest at once: a change in between would begin the copy again.
    await source.backup(target, { progress: () => mostPages });
  } finally {
    source.close();
  }
  const copy = new Database(target);
  try {
    copy.pragma("journal_mode = DELETE");
  } finally {
    copy.close();
  }
  return countKeys(target);
}

/** Counts the keys in force in a closed store. Throws NewerStateError when its schema is newer, another Error when it is damaged. Changes nothing. */
export function countKeys(file: string): number {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    database.pragma("trusted_schema = OFF");
    assertSound(database, schemaOf(keyMigrations));
    return database.prepare<[], number>("SELECT count(*) FROM keys WHERE revoked_at IS NULL").pluck().get() ?? 0;
  } finally {
    database.close();
  }
}

/** Checkpoints the write-ahead log of a closed store into its file and deletes the log. */
export function settleKeyDatabase(file: string): void {
  const database = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs });
  try {
    database.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

/** SQLite gives the files beside it (-wal, -shm) the mode that this one has when they are made. */
function createPrivate(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}

/** Gets its name when it is whole, so that a store without tables is always one that lost them. */
function createStore(file: string, migrations: readonly KeyMigration[]): void {
  if (hasLostDatabase(file)) throw new DamagedLogError(`it is gone, though its log ${file}-wal is there`);
  const unnamed = `${file}.new`;
  for (const leftover of [unnamed, `${unnamed}-journal`]) rmSync(leftover, { force: true });
  createPrivate(unnamed);
  const database = new Database(unnamed);
  try {
    createTables(database, migrations);
  } finally {
    database.close();
  }
  renameSync(unnamed, file);
  syncFolder(path.dirname(file));
}

/**
 * Applies the rollback journal that a kill leaves while a new or restored store, which has no write-ahead log yet, gets one. A connection
 * that cannot write fails with SQLITE_READONLY_ROLLBACK instead.
 */
function finishRollback(file: string): void {
  if (!existsSync(`${file}-journal`)) return;
  const database = new Database(file, { timeout: busyTimeoutMs });
  try {
    readSchema(database);
  } finally {
    database.close();
  }
}

/** Changes nothing but an unfinished change, also when it throws: closing a store that can be written would take over what is in its log. */
function assertSoundFile(file: string, supportedSchema: number): void {
  // Our own program never leaves it empty; SQLite would take it for a new database.
  if (statSync(file).size === 0) throw new DamagedStoreError("it was emptied: the file has 0 bytes");
  assertLogSound(file);
  finishRollback(file);
  const database = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    database.pragma("trusted_schema = OFF");
    assertSound(database, supportedSchema);
  } finally {
    database.close();
  }
}

function assertSound(database: Database.Database, supportedSchema: number): void {
  const damage = database.pragma("integrity_check(1)", { simple: true });
  if (damage !== "ok") throw new DamagedStoreError(String(damage).replaceAll("\n", " "));
  if (readSchema(database) === 0) throw new DamagedStoreError("it has lost its tables");
  assertSupported(database, supportedSchema);
}
