import { randomUUID } from "node:crypto";
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
 * Writes the rows of this daemon to the primary under a new epoch. Resolves with false, and changes nothing, if the primary has changed since
 * `head`. Throws PrimaryError.
 */
export async function writeRows(source: PrimarySource, { known, head, rows, marks, ownPositions }: OwnState): Promise<boolean> {
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
    return results.at(-1)?.length === 1;
  } finally {
    await primary.close();
  }
}

/** Returns the rows of a replica with later changes of this daemon. */
export function rowsOf(replica: IndexRows | undefined, own: IndexRows): IndexRows {
  const keys = [...(replica?.keys ?? []), ...own.keys].map((row) => [row.id, row] as const);
  const records = [...(replica?.records ?? []), ...own.records].map((row) => [JSON.stringify([row.kind, row.key]), row] as const);
  return { keys: [...new Map(keys).values()], records: [...new Map(records).values()] };
}

/**
 * Returns the revisions of which this daemon has all rows, newest first. Omits own revisions after a gap: another daemon that made the change
 * in the gap must not follow, because the primary would lack that change.
 */
function historyOf(marks: OwnState["marks"], ownPositions: readonly Position[]): OwnState["marks"] {
  const history = [...marks];
  for (const { revision, mark } of ownPositions.toSorted((a, b) => a.revision - b.revision))
    if (revision === (history[0]?.revision ?? 0) + 1) history.unshift({ revision, mark });
  return history;
}
