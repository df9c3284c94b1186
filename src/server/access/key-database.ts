import { chmodSync, closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";

const schemaVersion = 1;
const schema = `
  CREATE TABLE keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    key_prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    permissions TEXT NOT NULL,
    namespaces TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT`;

/** Waiting for a lock blocks the event loop, so it is short. */
const busyTimeoutMs = 200;
const mostPages = 0x7f_ff_ff_ff;

/** Opens the key store's file, creating it; an Error that says what to do when the file is damaged or written by a newer program. */
export function openKeyDatabase(file: string): Database.Database {
  createPrivate(file);
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { timeout: busyTimeoutMs });
    database.pragma("trusted_schema = OFF");
    assertSound(database);
    // From here on the file is changed.
    database.pragma("journal_mode = WAL");
    // A re-opened WAL database falls back to NORMAL, which loses acknowledged commits on power loss.
    database.pragma("synchronous = FULL");
    createTables(database);
    return database;
  } catch (cause) {
    database?.close();
    throw new Error(
      `The key store ${file} cannot be opened (${(cause as Error).message}). It was left untouched: restore it from a backup with runtimectl daemon restore FILE, or move it away to start with no keys.`,
      { cause },
    );
  }
}

/**
 * Copies the store as it is at one instant, while others write it, into a new file that needs none beside it; returns how many keys are in
 * force there. Throws when the store is damaged.
 */
export async function copyKeyDatabase(file: string, target: string): Promise<number> {
  createPrivate(target);
  const source = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    // After the first pages all of the rest at once: a change in between would begin the copy anew.
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

/** How many keys are in force in a store that nobody has open; throws when it is damaged or of a newer program. Changes nothing. */
export function countKeys(file: string): number {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    database.pragma("trusted_schema = OFF");
    assertSound(database);
    return database.prepare<[], number>("SELECT count(*) FROM keys WHERE revoked_at IS NULL").pluck().get() ?? 0;
  } finally {
    database.close();
  }
}

/** SQLite gives the files beside it (-wal, -shm) the mode that this one has when they are made. */
function createPrivate(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}

function assertSound(database: Database.Database): void {
  const damage = database.pragma("quick_check(1)", { simple: true });
  if (damage !== "ok") throw new Error(String(damage));
  const found = versionOf(database);
  if (found > schemaVersion)
    throw new Error(`a newer runtimed wrote it, with schema ${found}, and this one knows ${schemaVersion}: upgrade runtimed`);
}

function createTables(database: Database.Database): void {
  if (versionOf(database) !== 0) return;
  database.transaction(() => {
    database.exec(schema);
    database.pragma(`user_version = ${schemaVersion}`);
  })();
}

function versionOf(database: Database.Database): number {
  return database.pragma("user_version", { simple: true }) as number;
}
