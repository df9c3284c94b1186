import type { Lease, LeaseHolder, LeaseRequest, MissedLease } from "./lease-store.js";

/** Time in ms after a daemon's last heartbeat at which its leases become unknown. */
const deadAfterMs = 30_000;
/** Maximum difference between the planned time of a lease and the time of the store. */
const slotToleranceMs = 5_000;
/** Number of ended leases, and number of skipped leases, that the store keeps per queue. */
const keptLeases = 50;
/** Age at which the store deletes the heartbeat of a stopped daemon: 1 day. */
const keptHeartbeatMs = 86_400_000;

/** SQL expression for the time of the store in Unix milliseconds. */
export const nowMs = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
const columns = `name, queue, instance, state, slot_ms AS slotMs, detail, result`;
/** SQL condition that is true while the daemon that took the lease is running. */
const isHeld = `EXISTS (SELECT 1 FROM heartbeats WHERE id || '/' || run = holder AND seen_ms > ${nowMs} - ${deadAfterMs})`;

/** A statement with the values of the placeholders ?1, ?2 and so on. Each statement is idempotent. */
export interface LeaseStatement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** Result rows that `selectLeases` and `loseLeases` return. */
export type LeaseRow = Readonly<Record<keyof Lease, string | number | null>>;

/** Condition in SQL that a change must meet. Its first placeholder has the number `firstConditionValue`. */
interface LeaseCondition {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

export const firstConditionValue = 9;

/** Conditions for taking a lease: the latest time, on the clock of the database, at which the request succeeds, and an SQL condition. */
export interface LeaseLimit {
  readonly notAfterMs: number;
  readonly condition: LeaseCondition;
}

/** Returns the statements that create the tables of leases. */
export function createLeaseTables(): LeaseStatement[] {
  return [
    `CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, queue TEXT NOT NULL, instance TEXT NOT NULL, holder TEXT NOT NULL,
      token TEXT NOT NULL, state TEXT NOT NULL, slot_ms INTEGER NOT NULL, detail TEXT NOT NULL, result TEXT) STRICT, WITHOUT ROWID`,
    "CREATE INDEX IF NOT EXISTS leases_taken ON leases (queue) WHERE state = 'taken'",
    "CREATE INDEX IF NOT EXISTS leases_by_slot ON leases (queue, slot_ms)",
    "CREATE TABLE IF NOT EXISTS heartbeats (id TEXT NOT NULL, run TEXT NOT NULL, seen_ms INTEGER NOT NULL, PRIMARY KEY (id, run)) STRICT, WITHOUT ROWID",
  ].map((sql) => ({ sql, values: [] }));
}

/**
 * Returns a statement that stores the time of the daemon's last heartbeat. Each run has a row, because two machines with the same host name
 * can have the same id.
 */
export function recordHeartbeat({ id, run }: LeaseHolder): LeaseStatement {
  return {
    sql: `INSERT INTO heartbeats VALUES (?1, ?2, ${nowMs}) ON CONFLICT (id, run) DO UPDATE SET seen_ms = excluded.seen_ms`,
    values: [id, run],
  };
}

/**
 * Returns the statements that take a lease. The last statement selects `state` and `isMine`, or no row if the request is late. `notAfterMs`
 * is the latest time, on the clock of the database, at which the request succeeds.
 */
export function takeLease(
  { name, queue, slotMs, token, detail }: LeaseRequest,
  { id, run, name: instance }: LeaseHolder,
  { notAfterMs, condition }: LeaseLimit,
): LeaseStatement[] {
  return [
    {
      sql: `INSERT INTO leases SELECT ?1, ?2, ?3, ?4, ?5,
          CASE WHEN EXISTS (SELECT 1 FROM leases WHERE queue = ?2 AND state = 'taken' AND ${isHeld}) THEN 'skipped' ELSE 'taken' END,
          ?6, ?7, NULL
        WHERE ${nowMs} <= ?8 AND abs(?6 - ${nowMs}) <= ${slotToleranceMs} AND ${condition.sql} ON CONFLICT (name) DO NOTHING`,
      values: [name, queue, instance, `${id}/${run}`, token, slotMs, detail, notAfterMs, ...condition.values],
    },
    { sql: "SELECT state, token = ?2 AS isMine FROM leases WHERE name = ?1", values: [name, token] },
  ];
}

/** Returns a statement that deletes the heartbeats of daemons that stopped more than 1 day ago. */
export function forgetHolders(): LeaseStatement {
  return { sql: `DELETE FROM heartbeats WHERE seen_ms < ${nowMs} - ${keptHeartbeatMs}`, values: [] };
}

/**
 * Returns a statement that deletes the leases of all queues that begin with `prefix`, up to a planned time. Keeps leases whose names a
 * daemon could take again.
 */
export function forgetLeases(prefix: string, untilMs: number): LeaseStatement {
  return {
    sql: `DELETE FROM leases WHERE substr(queue, 1, length(?1)) = ?1 AND slot_ms <= ?2 AND slot_ms < ${nowMs} - ${slotToleranceMs}`,
    values: [prefix, untilMs],
  };
}

export function selectLease(name: string): LeaseStatement {
  return { sql: "SELECT 1 AS found FROM leases WHERE name = ?1", values: [name] };
}

/** Returns the statements that end a lease and delete the oldest leases of its queue. */
export function endLease(name: string, token: string, state: "ran" | "skipped", result: string): LeaseStatement[] {
  return [
    {
      sql: "UPDATE leases SET state = ?3, result = ?4 WHERE name = ?1 AND token = ?2 AND state IN ('taken', 'unknown')",
      values: [name, token, state, result],
    },
    deleteOldest(name, "state = 'skipped'"),
    // Skipped leases do not count here. A long run causes many of them, which would replace the leases of earlier runs.
    deleteOldest(name, "state IN ('ran', 'unknown')"),
  ];
}

function deleteOldest(name: string, condition: string): LeaseStatement {
  const queue = "queue = (SELECT queue FROM leases WHERE name = ?1)";
  return {
    sql: `DELETE FROM leases WHERE ${queue} AND ${condition} AND slot_ms < (SELECT slot_ms FROM leases WHERE ${queue} AND ${condition}
        ORDER BY slot_ms DESC LIMIT 1 OFFSET ${keptLeases - 1})`,
    values: [name],
  };
}

/** Returns a statement that marks the leases of stopped daemons as unknown, and selects these leases. */
export function loseLeases(): LeaseStatement {
  return { sql: `UPDATE leases SET state = 'unknown' WHERE state = 'taken' AND NOT ${isHeld} RETURNING ${columns}`, values: [] };
}

/** Returns a statement that records names as skipped if no daemon took them and no daemon can take them any more. */
export function skipMissed(missed: readonly MissedLease[], { id, run, name: instance }: LeaseHolder): LeaseStatement {
  return {
    sql: `INSERT INTO leases SELECT value ->> 'name', value ->> 'queue', ?2, ?3, '', 'skipped', value ->> 'slotMs', value ->> 'detail', NULL
      FROM json_each(?1) WHERE value ->> 'slotMs' < ${nowMs} - ${slotToleranceMs} ON CONFLICT (name) DO NOTHING`,
    values: [JSON.stringify(missed), instance, `${id}/${run}`],
  };
}

/** Returns a statement that selects the `id` of each daemon whose last heartbeat is recent. */
export function selectLive(): LeaseStatement {
  return { sql: `SELECT DISTINCT id FROM heartbeats WHERE seen_ms > ${nowMs} - ${deadAfterMs} ORDER BY id`, values: [] };
}

/** Returns a statement that selects `id`, `run` and `isLive` of each heartbeat. */
export function selectHeartbeats(): LeaseStatement {
  return { sql: `SELECT id, run, seen_ms > ${nowMs} - ${deadAfterMs} AS isLive FROM heartbeats`, values: [] };
}

/** Returns a statement that makes the last heartbeat of a daemon too old, because the daemon stops. */
export function endHeartbeats({ id, run }: LeaseHolder): LeaseStatement {
  return { sql: `UPDATE heartbeats SET seen_ms = min(seen_ms, ${nowMs} - ${deadAfterMs}) WHERE id = ?1 AND run = ?2`, values: [id, run] };
}

/**
 * Returns a statement that selects the newest leases of each queue. Also selects older leases that are held, and the lease that ended last.
 */
export function selectLeases(queues: readonly string[], limit: number): LeaseStatement {
  return {
    sql: `SELECT ${columns} FROM json_each(?1) AS wanted JOIN leases ON queue = wanted.value AND (state = 'taken'
        OR slot_ms >= coalesce(
          (SELECT slot_ms FROM leases AS newer WHERE newer.queue = wanted.value ORDER BY slot_ms DESC LIMIT 1 OFFSET ?2), 0)
        OR name = (SELECT name FROM leases AS ended WHERE ended.queue = wanted.value AND state IN ('ran', 'unknown')
          ORDER BY slot_ms DESC LIMIT 1))
      ORDER BY queue, slot_ms DESC`,
    values: [JSON.stringify(queues), limit - 1],
  };
}

export function toLease({ result, ...row }: LeaseRow): Lease {
  return { ...(row as Omit<Lease, "result">), result: result === null ? undefined : String(result) };
}

/** Returns the result of a lease request, according to the row that `takeLease` selects. */
export function resultOfLease(row: Readonly<Record<string, unknown>> | undefined): "mine" | "blocked" | "taken" | "late" {
  if (!row) return "late";
  if (row["isMine"] !== 1) return "taken";
  return row["state"] === "taken" ? "mine" : row["state"] === "skipped" ? "blocked" : "taken";
}
