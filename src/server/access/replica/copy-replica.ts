import Database from "better-sqlite3";
import { countKeys, openKeyDatabase } from "../key-database.js";
import { isNoRunRecord } from "../../storage/run-record-kinds.js";
import { assertSupportedPrimary } from "./primary-sql.js";

const columns = "id, name, key_prefix, hash, role, permissions, namespaces, created_at, last_used_at, expires_at, revoked_at";
const recordColumns = "kind, key, value, revision";

function schemaVersionOf(replica: Database.Database): number {
  return replica.prepare<[], number>("SELECT schema_version FROM key_store").pluck().get() ?? 0;
}

/**
 * Returns whether the replica has the table `records`. In a primary that an earlier version created, the table exists only after the first
 * record.
 */
function hasRecords(replica: Database.Database): boolean {
  return replica.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'records'").get() !== undefined;
}

/**
 * Copies keys, key ids and records from a replica into a new file that a local key store can open. Leaves out records about running daemons.
 * Returns the number of active keys.
 */
export function copyReplica(file: string, target: string): number {
  const replica = new Database(file, { readonly: true, fileMustExist: true });
  const { rows, records } = (() => {
    try {
      assertSupportedPrimary(`The replica of the key store ${file}`, schemaVersionOf(replica));
      return {
        rows: replica.prepare(`SELECT ${columns} FROM keys ORDER BY id`).raw().all() as unknown[][],
        records: hasRecords(replica)
          ? (replica.prepare(`SELECT ${recordColumns} FROM records WHERE ${isNoRunRecord}`).raw().all() as unknown[][])
          : [],
      };
    } finally {
      replica.close();
    }
  })();
  const store = openKeyDatabase(target);
  try {
    const insert = store.prepare(`INSERT INTO keys (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    const insertRecord = store.prepare(`INSERT INTO records (${recordColumns}) VALUES (?, ?, ?, ?)`);
    store.transaction(() => {
      for (const row of rows) insert.run(...row);
      for (const record of records) insertRecord.run(...record);
    })();
    // Switches the copy from the write-ahead log to a rollback journal, so that the single file contains everything.
    store.pragma("journal_mode = DELETE");
  } finally {
    store.close();
  }
  return countKeys(target);
}
