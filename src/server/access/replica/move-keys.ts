import type { MovedKeys } from "../../../shared/backup-program.js";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { PrimarySource } from "../../config/primary-source.js";
import { copyKeyDatabase, openKeyDatabase } from "../key-database.js";
import type { KeyRow } from "../key-store.js";
import { isNoRunRecord } from "../../storage/run-record-kinds.js";
import { assertLogSound } from "../write-ahead-log.js";
import { PrimaryError, Primary, type SqlRow } from "./primary-client.js";
import { createRecordTable, insertMovedRecords, type RecordRow } from "./record-sql.js";
import { assertSupportedPrimary, createTables, insertRows, partsOf, readHead, selectMoved, inNewRevision } from "./primary-sql.js";

/** Time limit for the transaction that moves the keys. The limit is long, because one transaction contains all keys. */
const moveDeadlineMs = 60_000;
/**
 * Time after which the primary rejects the transaction. The limit is shorter than the 60 s deadline, so that a transaction cannot succeed
 * after this process has reported a failure.
 */
const acceptanceMs = 50_000;

/**
 * Copies all keys of an unused local key store to a primary without keys, in one transaction. Throws PrimaryError, PrimaryHasKeysError,
 * NewerStateError, or an error of the local file.
 */
export async function moveKeys(file: string, source: PrimarySource, { isDryRun }: { isDryRun: boolean }): Promise<MovedKeys> {
  const { keys: rows, records } = await readRows(file);
  const revoked = rows.filter(({ revoked_at: revokedAt }) => revokedAt !== null).length;
  const primary = await Primary.at({ ...source, deadlineMs: moveDeadlineMs });
  try {
    let head = await askHead(primary);
    if (head) assertSupportedPrimary(`The primary of the key store ${source.url}`, Number(head["schema_version"]));
    if (head && Number(head["keys"]) > 0) throw new PrimaryHasKeysError();
    if (isDryRun) return { keys: rows.length - revoked, revoked };
    if (!head) {
      await primary.write(...createTables(randomUUID(), randomUUID()));
      head = (await askHead(primary)) as SqlRow;
    }
    await primary.write(...createRecordTable());
    await send(primary, { keys: rows, records }, head);
    return { keys: rows.length - revoked, revoked };
  } finally {
    await primary.close();
  }
}

/** Thrown when the primary already contains keys. */
export class PrimaryHasKeysError extends Error {
  constructor() {
    super("the primary already contains keys, and the keys of two stores cannot be merged");
  }
}

interface StoreRows {
  readonly keys: readonly KeyRow[];
  readonly records: readonly RecordRow[];
}

async function send(primary: Primary, { keys, records }: StoreRows, head: SqlRow): Promise<void> {
  const known = { epoch: String(head["epoch"]), revision: Number(head["revision"]), mark: String(head["mark"]) };
  const marked = { known, mark: randomUUID(), instance: randomUUID(), notAfterMs: Number(head["now_ms"]) + acceptanceMs };
  const inserts = [...partsOf(keys).map((part) => insertRows(part)), ...partsOf(records).map((part) => insertMovedRecords(part))];
  const results = await primary.write(...inNewRevision(marked, [...inserts, selectMoved()]));
  const moved = Number(results.at(-3)?.[0]?.["moved"] ?? 0);
  if (moved !== keys.length) throw new PrimaryHasKeysError();
}

/**
 * Returns the state of the primary and the number of its keys, including revoked keys. Returns undefined if the primary has no tables yet.
 */
async function askHead(primary: Primary): Promise<SqlRow | undefined> {
  try {
    const [head, count] = await primary.read(readHead(0), { sql: "SELECT count(*) AS keys FROM keys", values: [] });
    return head?.[0] && { ...head[0], keys: count?.[0]?.["keys"] ?? 0 };
  } catch (error) {
    if (error instanceof PrimaryError && error.kind === "without-tables") return undefined;
    throw error;
  }
}

/** Reads the rows of the key store from a copy of the file. A schema migration then changes only the copy. */
async function readRows(file: string): Promise<StoreRows> {
  const folder = await mkdtemp(path.join(tmpdir(), "runtimectl-keys-"));
  try {
    assertLogSound(file);
    const copy = path.join(folder, "keys.db");
    await copyKeyDatabase(file, copy);
    const database = openKeyDatabase(copy);
    try {
      return {
        keys: database.prepare<[], KeyRow>("SELECT * FROM keys ORDER BY id").all(),
        records: database.prepare<[], RecordRow>(`SELECT * FROM records WHERE value IS NOT NULL AND ${isNoRunRecord}`).all(),
      };
    } finally {
      database.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
