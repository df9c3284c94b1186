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
      `The key store ${file} cannot be opened (${(cause as Error).message}). It was left untouched: restore it from a backup, or move it away to start with no keys.`,
      { cause },
    );
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
