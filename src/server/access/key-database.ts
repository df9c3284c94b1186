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
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { timeout: busyTimeoutMs });
    database.pragma("journal_mode = WAL");
    // A re-opened WAL database falls back to NORMAL, which loses acknowledged commits on power loss.
    database.pragma("synchronous = FULL");
    database.pragma("trusted_schema = OFF");
    const damage = database.pragma("quick_check(1)", { simple: true });
    if (damage !== "ok") throw new Error(String(damage));
  } catch (cause) {
    database?.close();
    throw new Error(
      `The key store ${file} cannot be opened (${(cause as Error).message}). It was left untouched: restore it from a backup, or move it away to start with no keys.`,
      { cause },
    );
  }
  const found = database.pragma("user_version", { simple: true }) as number;
  if (found > schemaVersion) {
    database.close();
    throw new Error(
      `The key store ${file} was written by a newer runtimed (schema ${found}, this one knows ${schemaVersion}). Upgrade runtimed, or restore an older backup.`,
    );
  }
  if (found === 0) {
    database.transaction(() => {
      database.exec(schema);
      database.pragma(`user_version = ${schemaVersion}`);
    })();
  }
  return database;
}
