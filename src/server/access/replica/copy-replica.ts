import Database from "better-sqlite3";
import { countKeys, openKeyDatabase } from "../key-database.js";
import { assertSupportedPrimary } from "./primary-sql.js";

const columns = "id, name, key_prefix, hash, role, permissions, namespaces, created_at, last_used_at, expires_at, revoked_at";

function schemaVersionOf(replica: Database.Database): number {
  return replica.prepare<[], number>("SELECT schema_version FROM key_store").pluck().get() ?? 0;
}

/** Copies a replica's keys, with their ids, into a new file that is a local key store; returns how many are in force there. */
export function copyReplica(file: string, target: string): number {
  const replica = new Database(file, { readonly: true, fileMustExist: true });
  const rows = (() => {
    try {
      assertSupportedPrimary(`The replica of the key store ${file}`, schemaVersionOf(replica));
      return replica.prepare(`SELECT ${columns} FROM keys ORDER BY id`).raw().all() as unknown[][];
    } finally {
      replica.close();
    }
  })();
  const store = openKeyDatabase(target);
  try {
    const insert = store.prepare(`INSERT INTO keys (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    store.transaction(() => {
      for (const row of rows) insert.run(...row);
    })();
    // The file alone is copied on.
    store.pragma("journal_mode = DELETE");
  } finally {
    store.close();
  }
  return countKeys(target);
}
