import type { RecordChange } from "../../storage/record-store.js";
import type { Statement } from "./primary-client.js";
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
 * Returns a statement that changes records if all conditions are met. Sending it again with the same mark has no effect, because the mark
 * is not the newest or records already have its revision.
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

/** Returns a statement that selects one row if the primary accepted the change in time, even if a condition was not met. */
export function selectAccepted(): Statement {
  return { sql: `SELECT 1 AS accepted WHERE EXISTS ${thisRevision}`, values: [] };
}

/** Returns a statement that deletes the mark if no record was changed, so that each mark belongs to a change. */
export function removeUnusedMark(): Statement {
  return { sql: `DELETE FROM key_revisions WHERE mark = ?1 AND ${isNew}`, values: [] };
}

/** Returns a statement that inserts the records of another key store, if the primary has no records from earlier changes. */
export function insertMovedRecords(rows: readonly RecordRow[]): Statement {
  return {
    sql: `INSERT INTO records (kind, key, value, revision)
      SELECT moved.value ->> 0, moved.value ->> 1, moved.value ->> 2, ${thisRevision} FROM json_each(?2) AS moved
      WHERE EXISTS ${thisRevision} AND NOT EXISTS (SELECT 1 FROM records WHERE revision <> ${thisRevision}) ON CONFLICT DO NOTHING`,
    values: [JSON.stringify(rows.map(({ kind, key, value }) => [kind, key, value]))],
  };
}

/** SQL condition: the mark is the newest one, and no record has the revision of the mark. */
const isNew = `EXISTS (SELECT 1 FROM key_revisions WHERE mark = ?1 AND revision = (SELECT max(revision) FROM key_revisions))
  AND NOT EXISTS (SELECT 1 FROM records WHERE revision = ${thisRevision})`;
