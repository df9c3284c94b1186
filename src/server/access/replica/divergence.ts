import { ApiError } from "../../../shared/api-error.js";
import { mostListedRevisions, type Divergence } from "../../../shared/contract/shared-index.js";
import { PrimaryError, type Primary } from "./primary-client.js";
import { assertSupportedPrimary, readHead, type Position, type ReplicatedKeyRow } from "./primary-sql.js";
import type { RecordRow } from "./record-sql.js";

/** Newest position of the primary. */
export interface Head extends Position {
  /** Oldest revision that the primary keeps. */
  readonly oldest: number;
  /** Mark that the primary stores for the requested revision. Null if the primary does not store that revision. */
  readonly markThere: string | null;
  /** Time of the primary in Unix milliseconds. */
  readonly now_ms: number;
  readonly schema_version: number;
}

/** Rows of keys and records. */
export interface IndexRows {
  readonly keys: readonly ReplicatedKeyRow[];
  readonly records: readonly RecordRow[];
}

/**
 * Thrown by a sync while the primary lacks revisions of this daemon. Logs put the words "the primary of the key store" before the message.
 */
export class DivergedError extends Error {
  readonly divergence: Divergence;

  constructor(divergence: Divergence) {
    super(`${whatHappened[divergence.kind]} and lacks ${countOf(divergence)} of this daemon. The daemon keeps its rows. ${remedy}`);
    this.divergence = divergence;
  }
}

const whatHappened: Readonly<Record<Divergence["kind"], string>> = {
  restored: "was restored from an older state",
  emptied: "is empty",
  "other-epoch": "has the data of another index",
};
/** Nouns of the records that operators change, by kind. All other kinds are internal. */
const recordNouns: ReadonlyMap<string, string> = new Map([
  ["host", "host"],
  ["secret", "secret"],
  ["staged-secret", "secret"],
  ["worker-version", "worker"],
  ["plugin", "plugin"],
]);
const remedy = "To decide which rows are valid, run runtimectl daemon resync";

/**
 * Returns how the primary differs from the newest position that this daemon knows, or undefined without a difference. `head` is undefined
 * for a primary without tables. `wasDiverged` is true if an earlier sync found a difference.
 */
export function divergenceKind(known: Position, head: Head | undefined, wasDiverged: boolean): Divergence["kind"] | undefined {
  if (!head) return "emptied";
  // Marks are random. A primary with this mark has the same history, even if a resync has given the primary another epoch.
  if (head.markThere === known.mark) return undefined;
  if (head.epoch !== known.epoch) return "other-epoch";
  // A primary that no longer keeps the known revision counts as equal, unless an earlier sync found a difference.
  return wasDiverged || known.revision >= head.oldest ? "restored" : undefined;
}

/** Returns the state of the primary. Undefined if it has no tables. Throws PrimaryError, and NewerStateError for a newer schema. */
export async function fetchHead(primary: Primary, known: Position | undefined): Promise<Head | undefined> {
  try {
    const [rows = []] = await primary.read(readHead(known?.revision ?? 0));
    const head = rows[0] as unknown as Head | undefined;
    if (head) assertSupportedPrimary("The primary of the key store", head.schema_version);
    return head;
  } catch (error) {
    if (error instanceof PrimaryError && error.kind === "without-tables") return undefined;
    throw error;
  }
}

/** Returns the newest revision whose mark is also stored in the primary. Returns 0 if the primary stores none of the marks. */
export async function commonRevisionOf(primary: Primary, marks: readonly Omit<Position, "epoch">[]): Promise<number> {
  const [theirs = []] = await primary.read({ sql: "SELECT mark FROM key_revisions", values: [] });
  const known = new Set(theirs.map(({ mark }) => mark));
  return Math.max(0, ...marks.filter(({ mark }) => known.has(mark)).map(({ revision }) => revision));
}

/**
 * Returns the divergence for the rows of this daemon that are newer than `commonRevision`, the newest revision that the primary also has.
 * Omits internal rows.
 */
export function describeDivergence(
  kind: Divergence["kind"],
  { known, commonRevision, rows }: { known: Position; commonRevision: number; rows: IndexRows },
): Divergence {
  const changes = [
    ...rows.keys.map((row) => ({ revision: row.revision, change: describeKey(row) })),
    ...rows.records.flatMap((row) => describeRecord(row).map((change) => ({ revision: row.revision, change }))),
  ].filter(({ revision }) => revision > commonRevision);
  const missing = [...Map.groupBy(changes, ({ revision }) => revision)]
    .toSorted(([a], [b]) => b - a)
    .slice(0, mostListedRevisions)
    .map(([revision, found]) => ({ revision, changes: found.map(({ change }) => change).slice(0, mostListedRevisions) }));
  return { kind, missingCount: Math.max(1, known.revision - commonRevision), missing };
}

/** Returns the error for a change that this daemon rejects because the primary lacks revisions of this daemon. */
export function indexDiverged(divergence: Divergence): ApiError {
  const { message } = new DivergedError(divergence);
  return new ApiError("INDEX_DIVERGED", `Nothing was changed. The primary of the key store ${message}.`, { details: divergence });
}

function countOf({ missingCount }: Divergence): string {
  return missingCount === 1 ? "1 revision" : `${missingCount} revisions`;
}

function describeKey({ id, name, revoked_at: revokedAt }: ReplicatedKeyRow): string {
  return `key ${id} ${JSON.stringify(name)}${revokedAt === null ? "" : ", revoked"}`;
}

/** Returns an empty list for an internal record. */
function describeRecord({ kind, key, value }: RecordRow): string[] {
  const noun = recordNouns.get(kind);
  return noun === undefined ? [] : [`${noun} ${key}${value === null ? ", removed" : ""}`];
}
