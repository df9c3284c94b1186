import { randomUUID } from "node:crypto";
import { ApiError } from "../../../shared/api-error.js";
import type { PrimarySource } from "../../config/primary-source.js";
import { nowMs } from "../../storage/lease-sql.js";
import type { Head, IndexRows } from "./divergence.js";
import { Primary } from "./primary-client.js";
import { keptRevisions, type Position } from "./primary-sql.js";
import { replaceRows } from "./resync-sql.js";

/** Time limit for the transaction that replaces all rows. The limit is long, because one transaction contains all rows. */
const writeDeadlineMs = 60_000;
/** Time after which the primary rejects the transaction, so that it cannot succeed after the daemon has reported a failure. */
const acceptanceMs = 50_000;

/** The state of this daemon that replaces the rows of the primary. */
export interface OwnState {
  /** Newest position that this daemon knows. */
  readonly known: Position;
  /** State of the primary for which the operator decided. Undefined for a primary without tables. */
  readonly head: Head | undefined;
  readonly rows: IndexRows;
  /** Revisions in the replica, newest first. */
  readonly marks: readonly Omit<Position, "epoch">[];
  /** Changes of this daemon that the replica does not contain. */
  readonly ownPositions: readonly Position[];
}

/**
 * Writes the rows of this daemon to the primary under a new epoch. Throws CHANGE_CONFLICT, and changes nothing, if the primary has changed
 * since `head`. Throws PrimaryError.
 */
export async function writeRows(source: PrimarySource, { known, head, rows, marks, ownPositions }: OwnState): Promise<void> {
  const primary = await Primary.at({ ...source, deadlineMs: writeDeadlineMs });
  try {
    const [now] = await primary.read({ sql: `SELECT ${nowMs} AS now_ms`, values: [] });
    const seen = head ?? { epoch: randomUUID(), revision: 1, mark: randomUUID() };
    const results = await primary.write(
      ...replaceRows({
        seen,
        isEmpty: !head,
        next: { epoch: randomUUID(), revision: Math.max(seen.revision, known.revision) + 1, mark: randomUUID() },
        rows,
        history: historyOf(marks, ownPositions).slice(0, keptRevisions),
        instance: randomUUID(),
        notAfterMs: Number(now?.[0]?.["now_ms"]) + acceptanceMs,
      }),
    );
    if (results.at(-1)?.length !== 1) throw resyncConflict("was changed");
  } finally {
    await primary.close();
  }
}

/** Returns the error of a resync if the primary has changed since the operator saw its state. */
export function resyncConflict(change: "was replaced" | "was changed"): ApiError {
  return new ApiError(
    "CHANGE_CONFLICT",
    `The primary ${change} after the last comparison with this daemon. Nothing was changed. Check the difference with runtimectl doctor, then run the resync again.`,
  );
}

/** Returns the newest row of each key and record, from a replica and the changes of this daemon. Either of them can have the newer row. */
export function rowsOf(replica: IndexRows | undefined, own: IndexRows): IndexRows {
  return {
    keys: newestRows([...(replica?.keys ?? []), ...own.keys], ({ id }) => id),
    records: newestRows([...(replica?.records ?? []), ...own.records], ({ kind, key }) => JSON.stringify([kind, key])),
  };
}

function newestRows<Row extends { readonly revision: number }>(rows: readonly Row[], idOf: (row: Row) => number | string): Row[] {
  return [...new Map(rows.toSorted((a, b) => a.revision - b.revision).map((row) => [idOf(row), row])).values()];
}

/**
 * Returns the revisions whose changes this daemon has completely, newest first. Omits own revisions after a gap. Otherwise the daemon that
 * made the change in the gap would accept a primary that lacks this change.
 */
function historyOf(marks: OwnState["marks"], ownPositions: readonly Position[]): OwnState["marks"] {
  const history = [...marks];
  for (const { revision, mark } of ownPositions.toSorted((a, b) => a.revision - b.revision))
    if (revision === (history[0]?.revision ?? 0) + 1) history.unshift({ revision, mark });
  return history;
}
