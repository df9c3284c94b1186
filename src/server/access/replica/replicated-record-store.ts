import { setImmediate as turn } from "node:timers/promises";
import { ChangeListeners } from "../../storage/change-listeners.js";
import type { RecordChange, RecordListener, RecordStore, StoredRecord } from "../../storage/record-store.js";
import type { RecordRow } from "./record-sql.js";
import { RecordTable } from "./record-table.js";
import type { ReplicaReader } from "./replica-database.js";

/** Number of rows per read. The daemon serves requests between two reads, so a long table does not block them. */
const pageRows = 500;

/**
 * All records in memory: the records of the replica, and later changes of this daemon. These changes are valid even while the replica does
 * not contain them.
 */
export class ReplicatedRecordStore implements RecordStore {
  readonly #listeners = new ChangeListeners();
  readonly #put: (changes: readonly RecordChange[]) => Promise<number | undefined>;
  /** Records that this daemon changed. The replica possibly does not contain these changes yet. */
  readonly #ahead = new Map<string, StoredRecord>();
  #records = new RecordTable();
  #revision = 0;

  /**
   * `put` sends changes of records to the primary. It resolves with the revision of the changes, or with undefined if a condition of a
   * change is not met.
   */
  constructor(put: (changes: readonly RecordChange[]) => Promise<number | undefined>) {
    this.#put = put;
  }

  /** Rows that this daemon changed and the replica possibly does not contain yet. */
  get ownRows(): RecordRow[] {
    return [...this.#ahead.values()].map((record) => ({ ...record, value: record.value ?? null }));
  }

  /** Number of records that are not removed. */
  get recordCount(): number {
    return this.#records.size;
  }

  readRevision(): number {
    return this.#revision;
  }

  fetchSince(revision: number, kind?: string): StoredRecord[] {
    return this.#records.since(revision, kind);
  }

  async transact(changes: readonly RecordChange[]): Promise<StoredRecord[] | undefined> {
    if (changes.length === 0) return [];
    const revision = await this.#put(changes);
    if (revision === undefined) return undefined;
    const stored = changes.map(({ kind, key, value }) => ({ kind, key, value, revision }));
    for (const record of stored) {
      this.#ahead.set(idOf(record), record);
      this.#records.put(record);
    }
    this.#listeners.notify(this.#newest(stored));
    return stored;
  }

  onChange(listener: RecordListener): () => void {
    return this.#listeners.add(listener);
  }

  /** Replaces all records by the records of a replica. The caller must ensure that no process writes the replica meanwhile. */
  async load(reader: ReplicaReader, { isAccepted }: { isAccepted: boolean }): Promise<void> {
    const { revision } = reader.readPosition();
    // Forgets the changes of this daemon that the primary lacks if an operator has discarded them (`isAccepted`).
    if (isAccepted) this.#ahead.clear();
    const loaded = new RecordTable();
    await readInto(loaded, reader, 0);
    for (const record of this.#ahead.values()) if (record.revision > revision) loaded.put(record);
    this.#records = loaded;
    this.#reached(revision);
    this.#listeners.notify("all", { isAccepted });
  }

  /** Adds newer records of the replica. The caller must ensure that no process writes the replica meanwhile. */
  async catchUp(reader: ReplicaReader): Promise<void> {
    const { revision } = reader.readPosition();
    const read = await readInto(this.#records, reader, this.#revision);
    this.#reached(revision);
    if (read.length > 0) this.#listeners.notify(this.#newest(read));
  }

  /**
   * Returns the current values of the given records. A value can be newer than in the replica, because this daemon can have changed the
   * record.
   */
  #newest(records: readonly StoredRecord[]): StoredRecord[] {
    return records.map((record) => this.#records.get(record) ?? record);
  }

  #reached(revision: number): void {
    this.#revision = revision;
    for (const [id, record] of this.#ahead) if (record.revision <= revision) this.#ahead.delete(id);
  }
}

/** Reads all records that changed after a revision. Adds the records to the table, and returns them. */
async function readInto(records: RecordTable, reader: ReplicaReader, since: number): Promise<StoredRecord[]> {
  const read: StoredRecord[] = [];
  for (let after: Omit<RecordRow, "value"> = { revision: since + 1, kind: "", key: "" }; ;) {
    const rows = reader.recordsAfter(after, pageRows);
    for (const row of rows) {
      const record = { ...row, value: row.value ?? undefined };
      records.put(record);
      read.push(record);
    }
    after = rows.at(-1) ?? after;
    if (rows.length < pageRows) return read;
    await turn();
  }
}

function idOf({ kind, key }: StoredRecord): string {
  return JSON.stringify([kind, key]);
}
