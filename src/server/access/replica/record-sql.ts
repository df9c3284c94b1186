import type { RecordChange } from "../../storage/record-store.js";
import type { Statement } from "./primary-client.js";
import { isNoRunRecord } from "../../storage/run-record-kinds.js";
import { thisRevision } from "./primary-sql.js";

/** A row of the table `records` in the primary and its replicas. */
export interface RecordRow {
  kind: string;
  key: string;
  value: string | null;
  revision: number;
}

/** Returns the statements that create the table `records`. A primary that an earlier version created has no such table. */
export function createRecordTable(): Statement[] {
  return [
    `CREATE TABLE IF NOT EXISTS records (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT, revision INTEGER NOT NULL,
      PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS records_by_revision ON records (revision)",
  ].map((sql) => ({ sql, values: [] }));
}

/**
 * Returns a statement that changes records if all conditions are met. A repeated statement with the same mark has no effect: either a newer
 * mark exists, or the records already have the revision of this mark.
 */
export function putRecords(changes: readonly RecordChange[]): Statement {
  const rows = changes.map(({ kind, key, value, ifRevision }) => [kind, key, value ?? null, ifRevision ?? null]);
  return {
    sql: `INSERT INTO records (kind, key, value, revision)
      SELECT change.value ->> 0, change.value ->> 1, change.value ->> 2, ${thisRevision} FROM json_each(?2) AS change
      WHERE ${isNew} AND NOT EXISTS (
        SELECT 1 FROM json_each(?2) AS condition LEFT JOIN records AS found
          ON found.kind = condition.value ->> 0 AND found.key = condition.value ->> 1 AND found.value IS NOT NULL
        WHERE coalesce(found.revision, 0) <> condition.value ->> 3)
      ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, revision = excluded.revision`,
    values: [JSON.stringify(rows)],
  };
}

/**
 * Returns a statement that selects one row if the primary received the change in time. The row does not show whether the conditions of the
 * change were met.
 */
export function selectAccepted(): Statement {
  return { sql: `SELECT 1 AS accepted WHERE EXISTS ${thisRevision}`, values: [] };
}

/** Returns a statement that deletes the mark of a change that changed no record. Every stored mark then belongs to an actual change. */
export function removeUnusedMark(): Statement {
  return { sql: `DELETE FROM key_revisions WHERE mark = ?1 AND ${isNew}`, values: [] };
}

/**
 * Returns a statement that inserts the records of a local key store. The statement has no effect if an earlier change has stored a record
 * in the primary. Records about running daemons do not count, because every daemon stores them.
 */
export function insertMovedRecords(rows: readonly RecordRow[]): Statement {
  return {
    sql: `INSERT INTO records (kind, key, value, revision)
      SELECT moved.value ->> 0, moved.value ->> 1, moved.value ->> 2, ${thisRevision} FROM json_each(?2) AS moved
      WHERE EXISTS ${thisRevision} AND NOT EXISTS (SELECT 1 FROM records WHERE revision <> ${thisRevision} AND ${isNoRunRecord})
      ON CONFLICT DO NOTHING`,
    values: [JSON.stringify(rows.map(({ kind, key, value }) => [kind, key, value]))],
  };
}

/** SQL condition of a change that has not run yet: its mark is the newest mark, and no record has the revision of this mark. */
const isNew = `EXISTS (SELECT 1 FROM key_revisions WHERE mark = ?1 AND revision = (SELECT max(revision) FROM key_revisions))
  AND NOT EXISTS (SELECT 1 FROM records WHERE revision = ${thisRevision})`;
