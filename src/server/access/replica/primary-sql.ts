import { newKeyColumns, valuesOf, type KeyRow, type NewKey } from "../key-store.js";
import type { SqlValue, Statement } from "./primary-client.js";
import { NewerStateError } from "../../config/newer-state-error.js";
import { nowMs } from "../../storage/lease-sql.js";

/** Number of revisions that the primary keeps. If a replica is further behind, the daemon fetches a complete new replica. */
export const keptRevisions = 10_000;

const rowsInStatement = 500;

/**
 * SQL expression for the revision of the running change. The expression is null if the primary received the change too late. The statements
 * then change nothing.
 */
export const thisRevision = "(SELECT revision FROM key_revisions WHERE mark = ?1)";
/** Schema number of the primary's tables. This version of the daemon creates tables with this number and rejects a higher number. */
const primarySchemaVersion = 1;

/** A row of the table `keys` in the primary and its replicas. */
export interface ReplicatedKeyRow extends KeyRow {
  /** Revision of the last change to this row. */
  revision: number;
}

/**
 * Position in the history of the primary. Each change has a revision, which rises by 1, and a random mark. If a mark is missing although
 * its revision is recent, the primary was replaced or restored from a backup.
 */
export interface Position {
  /** Random identifier of the data in the primary. The daemon that creates the tables also creates this identifier. */
  readonly epoch: string;
  readonly revision: number;
  readonly mark: string;
}

/** Returns the position with the higher revision. */
export function newerOf(one: Position | undefined, other: Position | undefined): Position | undefined {
  return one && other ? (one.revision >= other.revision ? one : other) : (one ?? other);
}

/** Identifies a change that a daemon sends to the primary. */
export interface ChangeIdentity {
  /** Newest position of the primary that the daemon has received. A primary whose history lacks this position rejects the change. */
  readonly known: Position;
  /** Random identifier of the change. If the daemon sends the same change twice, the second one has no effect. */
  readonly mark: string;
  /** Random identifier of one run of a daemon. */
  readonly instance: string;
  /**
   * Latest time at which the primary accepts the change, in Unix milliseconds of the primary's clock. Without this limit, a change could
   * succeed after the daemon has reported a failure.
   */
  readonly notAfterMs: number;
}

/** Returns the statements that create missing tables in the primary. */
export function createTables(epoch: string, mark: string): Statement[] {
  const tables = [
    "CREATE TABLE IF NOT EXISTS key_store (id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL, schema_version INTEGER NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS key_revisions (revision INTEGER PRIMARY KEY, mark TEXT NOT NULL UNIQUE, instance TEXT NOT NULL) STRICT",
    `CREATE TABLE IF NOT EXISTS keys (
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, key_prefix TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
      permissions TEXT NOT NULL, namespaces TEXT NOT NULL, created_at INTEGER NOT NULL, last_used_at INTEGER, expires_at INTEGER,
      revoked_at INTEGER, revision INTEGER NOT NULL) STRICT`,
    "CREATE INDEX IF NOT EXISTS keys_by_revision ON keys (revision)",
  ];
  return [
    ...tables.map((sql) => ({ sql, values: [] })),
    { sql: `INSERT OR IGNORE INTO key_store VALUES (1, ?1, ${primarySchemaVersion})`, values: [epoch] },
    { sql: "INSERT OR IGNORE INTO key_revisions VALUES (1, ?1, '')", values: [mark] },
  ];
}

/**
 * Returns a statement that selects the fields of `Head` in one row. `markThere` is the mark of the given revision, or null if the primary
 * does not store that revision. The other fields describe the newest and the oldest revision.
 */
export function readHead(revision: number): Statement {
  return {
    sql: `SELECT epoch, schema_version, ${nowMs} AS now_ms, newest.revision, newest.mark,
      (SELECT min(revision) FROM key_revisions) AS oldest, (SELECT mark FROM key_revisions WHERE revision = ?1) AS markThere
      FROM key_store, (SELECT revision, mark FROM key_revisions ORDER BY revision DESC LIMIT 1) AS newest`,
    values: [revision],
  };
}

/**
 * Returns an SQL condition that is true if the history of the primary contains a position. Three consecutive placeholders contain the
 * epoch, revision and mark of this position. `first` is the number of the first placeholder.
 */
export function lineageCondition(first: number): string {
  const [epoch, revision, mark] = [first, first + 1, first + 2];
  return `EXISTS (SELECT 1 FROM key_store WHERE epoch = ?${epoch}) AND (?${revision} < (SELECT min(revision) FROM key_revisions)
    OR EXISTS (SELECT 1 FROM key_revisions WHERE revision = ?${revision} AND mark = ?${mark}))`;
}

/**
 * Returns the statements that assign a new revision to the change. The last statement selects this revision, or no row if the change is
 * late or the primary was restored or replaced. A known revision can be too old to be stored in the primary.
 */
export function inNewRevision({ mark, known, instance, notAfterMs }: ChangeIdentity, statements: readonly Statement[]): Statement[] {
  return [
    {
      sql: `INSERT INTO key_revisions (revision, mark, instance) SELECT (SELECT max(revision) FROM key_revisions) + 1, ?1, ?3
        WHERE ${nowMs} <= ?2 AND ${lineageCondition(4)} ON CONFLICT (mark) DO NOTHING`,
      values: [mark, notAfterMs, instance, known.epoch, known.revision, known.mark],
    },
    ...statements.map(({ sql, values }) => ({ sql, values: [mark, ...values] })),
    { sql: `DELETE FROM key_revisions WHERE revision <= ${thisRevision} - ${keptRevisions}`, values: [mark] },
    { sql: `SELECT ${thisRevision} AS revision WHERE EXISTS ${thisRevision}`, values: [mark] },
  ];
}

/** Returns a statement that inserts a key. As in all statements below, the parameter ?1 is the mark of the change. */
export function insertKey(key: NewKey): Statement {
  return {
    sql: `INSERT INTO keys (${newKeyColumns}, revision) SELECT ${placeholders(2, 8)}, ${thisRevision} WHERE EXISTS ${thisRevision}
      ON CONFLICT (hash) DO NOTHING`,
    values: valuesOf(key),
  };
}

export function selectKey(hash: string): Statement {
  return { sql: "SELECT * FROM keys WHERE hash = ?2", values: [hash] };
}

/**
 * Returns a statement that selects the key with this id, but only if the running change has changed the key. Otherwise the statement
 * selects no row.
 */
export function selectChanged(id: number): Statement {
  return { sql: `SELECT * FROM keys WHERE id = ?2 AND revision = ${thisRevision}`, values: [id] };
}

export function revokeKey(id: number, now: number): Statement {
  return changeActive("revoked_at = ?3", [id, now]);
}

export function expireKey(id: number, endsAt: number): Statement {
  return changeActive("expires_at = ?3", [id, endsAt]);
}

/** Returns a statement that inserts a replacement key, but only if the running change has changed the key with this id. */
export function insertReplacementKey(key: NewKey, id: number): Statement {
  return {
    sql: `INSERT INTO keys (${newKeyColumns}, revision) SELECT ${placeholders(3, 8)}, ${thisRevision}
      WHERE EXISTS (SELECT 1 FROM keys WHERE id = ?2 AND revision = ${thisRevision}) ON CONFLICT (hash) DO NOTHING`,
    values: [id, ...valuesOf(key)],
  };
}

/**
 * Returns a statement that inserts the keys of a local key store. The statement has no effect if an earlier change has stored a key in the
 * primary.
 */
export function insertRows(rows: readonly KeyRow[]): Statement {
  const columns = `id, ${newKeyColumns}, last_used_at, revoked_at`;
  const values = rows.map((row) => columns.split(", ").map((column) => row[column as keyof KeyRow]));
  return {
    sql: `INSERT INTO keys (${columns}, revision) SELECT ${columns
      .split(", ")
      .map((_, index) => `value ->> ${index}`)
      .join(", ")}, ${thisRevision}
      FROM json_each(?2) WHERE EXISTS ${thisRevision} AND NOT EXISTS (SELECT 1 FROM keys WHERE revision <> ${thisRevision})
      ON CONFLICT (hash) DO NOTHING`,
    values: [JSON.stringify(values)],
  };
}

/** Returns a statement that selects `moved`, the number of keys that the running change inserted. */
export function selectMoved(): Statement {
  return { sql: `SELECT count(*) AS moved FROM keys WHERE revision = ${thisRevision}`, values: [] };
}

/** Returns a statement that writes times of last use. An earlier time never replaces a later time, so daemons can write in any order. */
export function writeUses(uses: readonly (readonly [id: number, usedAt: number])[]): Statement {
  return {
    sql: `UPDATE keys SET last_used_at = uses.used_at, revision = ${thisRevision}
      FROM (SELECT value ->> 0 AS id, value ->> 1 AS used_at FROM json_each(?2)) AS uses
      WHERE keys.id = uses.id AND coalesce(last_used_at, 0) < uses.used_at AND revoked_at IS NULL AND EXISTS ${thisRevision}`,
    values: [JSON.stringify(uses)],
  };
}

function changeActive(assignment: string, values: readonly SqlValue[]): Statement {
  return {
    sql: `UPDATE keys SET ${assignment}, revision = ${thisRevision} WHERE id = ?2 AND revoked_at IS NULL AND EXISTS ${thisRevision}`,
    values,
  };
}

/** Returns numbered SQL placeholders, such as `?2, ?3`. */
function placeholders(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `?${first + index}`).join(", ");
}

/** Splits rows into parts that one statement can insert. */
export function partsOf<Row>(rows: readonly Row[]): (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / rowsInStatement) }, (_, part) =>
    rows.slice(part * rowsInStatement, (part + 1) * rowsInStatement),
  );
}

/** Throws NewerStateError if the tables of the primary or a replica have a newer schema. */
export function assertSupportedPrimary(subject: string, found: number): void {
  if (found <= primarySchemaVersion) return;
  throw new NewerStateError({
    subject,
    found,
    supported: primarySchemaVersion,
    remedy: "restore an older backup of the primary and delete the folder replica in the state directory of each daemon",
  });
}
