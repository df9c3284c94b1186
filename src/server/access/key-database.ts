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

/** Maximum time that SQLite waits for a lock of the database file. The time is short, because the wait blocks the event loop. */
const busyTimeoutMs = 200;
const mostPages = 0x7f_ff_ff_ff;

/** Error codes with which SQLite reports a damaged file. All other codes report a failing disk or missing permissions. */
const damageCodes = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB"]);

/** Thrown when the key store's file is empty, corrupt or without tables. */
class DamagedStoreError extends Error {}

export interface KeyDatabaseOptions {
  /** Migrations to apply instead of `keyMigrations`. Only tests set this option. */
  readonly migrations?: readonly KeyMigration[];
  /** Called after a migration was committed. */
  readonly onMigrated?: (migration: FinishedMigration) => void;
}

/**
 * Opens the file of the key store. Creates a missing file and migrates an older schema to the newest. Throws NewerStateError for a newer
 * schema, and an Error with advice for the operator in all other cases.
 */
export function openKeyDatabase(file: string, { migrations = keyMigrations, onMigrated }: KeyDatabaseOptions = {}): Database.Database {
  let database: Database.Database | undefined;
  try {
    if (!existsSync(file)) createStore(file, migrations);
    chmodSync(file, 0o600);
    assertSoundFile(file, schemaOf(migrations));
    database = new Database(file, { timeout: busyTimeoutMs });
    // Runs after the check of the file, because these statements change the file.
    database.pragma("trusted_schema = OFF");
    database.pragma("journal_mode = WAL");
    // Sets `synchronous = FULL`, because a reopened WAL database otherwise uses NORMAL, which loses confirmed commits on a power failure.
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

/**
 * Returns advice for the operator about a key store that cannot be opened. If the disk is full, the advice must not be to restore an older
 * store.
 */
function advice(cause: unknown): string {
  if (cause instanceof FailedMigrationError)
    return `The key store still has schema ${cause.from}, and ${cause.backup} is a copy. Free space on its disk, then start runtimed again. If the start fails again, use the previous version of runtimed.`;
  const isDamaged =
    cause instanceof DamagedStoreError ||
    cause instanceof DamagedLogError ||
    (cause instanceof Database.SqliteError && damageCodes.has(cause.code.split("_").slice(0, 2).join("_")));
  return isDamaged
    ? "The key store is unchanged. Restore a backup with runtimectl daemon restore FILE. To start without keys instead, move keys.db and the files keys.db-* to another folder."
    : "The keys are still in the key store. Check that its disk works and has free space, and that runtimed has write permission. Then start runtimed again.";
}

/**
 * Copies a consistent snapshot of the key store into one new file. Other processes can write to the store during the copy. Returns the
 * number of active keys. Throws NewerStateError, or an Error for a damaged store.
 */
export async function copyKeyDatabase(file: string, target: string): Promise<number> {
  createPrivate(target);
  const source = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    assertSupported(source, schemaOf(keyMigrations));
    // Copies all pages in one step. With several steps, SQLite would restart the copy if another process changed the database in between.
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

/**
 * Counts the active keys in a closed key store without changing the file. Throws NewerStateError for a newer schema, and another Error for
 * a damaged store.
 */
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

/** Copies the write-ahead log of a closed key store into the database file and deletes the log. */
export function settleKeyDatabase(file: string): void {
  const database = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs });
  try {
    database.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

/** Creates a file that only its owner can read. SQLite creates the files `-wal` and `-shm` next to it with the same mode. */
function createPrivate(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}

/**
 * Creates the key store under a temporary name, and renames the file when all tables exist. A key store without tables is therefore always
 * damaged.
 */
function createStore(file: string, migrations: readonly KeyMigration[]): void {
  if (hasLostDatabase(file)) throw new DamagedLogError(`the file is missing, but its log ${file}-wal exists`);
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
 * Applies the rollback journal that an interrupted creation of the key store left. Otherwise a read-only connection fails with
 * SQLITE_READONLY_ROLLBACK.
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

/**
 * Checks the file of the key store through a read-only connection. A writable connection would write the write-ahead log into the file. The
 * check changes the file only if it must apply a rollback journal.
 */
function assertSoundFile(file: string, supportedSchema: number): void {
  // Rejects an empty file. runtimed never creates an empty file, and SQLite would treat the file as a new database.
  if (statSync(file).size === 0) throw new DamagedStoreError("the file is empty");
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
