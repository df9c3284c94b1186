import { newKeyColumns, type KeyRow } from "../key-store.js";
import type { IndexRows } from "./divergence.js";
import type { SqlValue, Statement } from "./primary-client.js";
import { createTables, partsOf, type Position } from "./primary-sql.js";
import { nowMs } from "../../storage/lease-sql.js";
import { createRecordTable } from "./record-sql.js";

const keyColumns = `id, ${newKeyColumns}, last_used_at, revoked_at, revision`;

/** The data that replaces all rows of a primary. */
export interface Resync {
  /** Position of the primary for which the operator decided. If the primary now has another position, the statements change nothing. */
  readonly seen: Position;
  /** True if the primary has no tables. The statements then create the tables with the position `seen`. */
  readonly isEmpty: boolean;
  /** New position of the primary. The revision is higher than all revisions of the primary and of this daemon. */
  readonly next: Position;
  readonly rows: IndexRows;
  /** Revisions of this daemon. Another daemon with the same revisions can then continue with the resynced primary without a divergence. */
  readonly history: readonly Omit<Position, "epoch">[];
  /** Random identifier of this run of the daemon. */
  readonly instance: string;
  /** Latest time of the primary, in Unix milliseconds, at which the primary accepts the statements. */
  readonly notAfterMs: number;
}

/**
 * Returns the statements of one transaction that replaces all keys and records of the primary. Leases stay unchanged. The last statement
 * selects one row if this resync succeeded. Repeated statements have no effect, because the epoch differs.
 */
export function replaceRows({ seen, isEmpty, next, rows, history, instance, notAfterMs }: Resync): Statement[] {
  const identity = [next.mark, seen.epoch];
  const conditional = (sql: string, ...values: SqlValue[]): Statement => ({ sql, values: [...identity, ...values] });
  const insert = (table: string, columns: string, all: readonly (readonly SqlValue[])[]) =>
    partsOf(all).map((part) =>
      conditional(
        `INSERT INTO ${table} (${columns}) SELECT ${columns
          .split(", ")
          .map((_, index) => `value ->> ${index}`)
          .join(", ")} FROM json_each(?3) WHERE ${isRunning}`,
        JSON.stringify(part),
      ),
    );
  return [
    ...(isEmpty ? createTables(seen.epoch, seen.mark) : []),
    ...createRecordTable(),
    {
      sql: `INSERT INTO key_revisions (revision, mark, instance) SELECT ?3, ?1, ?4 WHERE ${nowMs} <= ?5
        AND EXISTS (SELECT 1 FROM key_store WHERE epoch = ?2) AND (SELECT max(revision) FROM key_revisions) = ?6
        AND EXISTS (SELECT 1 FROM key_revisions WHERE revision = ?6 AND mark = ?7) ON CONFLICT (mark) DO NOTHING`,
      values: [...identity, next.revision, instance, notAfterMs, seen.revision, seen.mark],
    },
    conditional(`DELETE FROM key_revisions WHERE mark <> ?1 AND ${isRunning}`),
    conditional(`DELETE FROM keys WHERE ${isRunning}`),
    conditional(`DELETE FROM records WHERE ${isRunning}`),
    ...insert(
      "key_revisions",
      "revision, mark, instance",
      history.map(({ revision, mark }) => [revision, mark, instance]),
    ),
    ...insert(
      "keys",
      keyColumns,
      rows.keys.map((row) => keyColumns.split(", ").map((column) => row[column as keyof (KeyRow & { revision: number })])),
    ),
    ...insert(
      "records",
      "kind, key, value, revision",
      rows.records.map(({ kind, key, value, revision }) => [kind, key, value, revision]),
    ),
    conditional(`UPDATE key_store SET epoch = ?3 WHERE ${isRunning}`, next.epoch),
    { sql: "SELECT 1 AS succeeded FROM key_revisions WHERE mark = ?1", values: [next.mark] },
  ];
}

/** SQL condition that is true only in the first run of the transaction, and only if the primary had the expected position. */
const isRunning = "EXISTS (SELECT 1 FROM key_revisions WHERE mark = ?1) AND EXISTS (SELECT 1 FROM key_store WHERE epoch = ?2)";
