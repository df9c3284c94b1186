import { setImmediate as turn } from "node:timers/promises";
import { ChangeListeners } from "../../storage/change-listeners.js";
import type { RecordChange, RecordStore, StoredRecord } from "../../storage/record-store.js";
import type { RecordRow } from "./record-sql.js";
import type { ReplicaReader } from "./replica-database.js";

/** Rows per page. The daemon serves requests between pages. */
const pageRows = 500;

/** Records of a primary, in memory: those of the replica, with the later changes of this daemon, which the replica never reverts. */
export class ReplicatedRecordStore implements RecordStore {
  readonly #listeners = new ChangeListeners();
  readonly #put: (changes: readonly RecordChange[]) => Promise<number | undefined>;
  /** Rows of this daemon that the replica may lack. */
  readonly #ahead = new Map<string, StoredRecord>();
  #records = new Map<string, StoredRecord>();
  #revision = 0;

  /** `put` changes records at the primary and resolves with the revision of the change; undefined when a condition does not hold. */
  constructor(put: (changes: readonly RecordChange[]) => Promise<number | undefined>) {
    this.#put = put;
  }

  readRevision(): number {
    return this.#revision;
  }

  fetchSince(since: number): StoredRecord[] {
    return [...this.#records.values()].filter(({ revision }) => revision > since).toSorted((a, b) => a.revision - b.revision);
  }

  async transact(changes: readonly RecordChange[]): Promise<StoredRecord[] | undefined> {
    if (changes.length === 0) return [];
    const revision = await this.#put(changes);
    if (revision === undefined) return undefined;
    const stored = changes.map(({ kind, key, value }) => ({ kind, key, value, revision }));
    for (const record of stored) {
      this.#ahead.set(idOf(record), record);
      keepNewest(this.#records, record);
    }
    this.#listeners.notify();
    return stored;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Replaces all records by those of a replica that no process writes meanwhile. */
  async load(reader: ReplicaReader, { isDiverged }: { isDiverged: boolean }): Promise<void> {
    const { revision } = reader.readPosition();
    // The primary's history no longer contains the earlier changes of this daemon.
    if (isDiverged) this.#ahead.clear();
    const loaded = new Map<string, StoredRecord>();
    await readInto(loaded, reader, 0);
    for (const record of this.#ahead.values()) keepNewest(loaded, record);
    this.#records = loaded;
    this.#reached(revision);
    this.#listeners.notify();
  }

  /** Adds the newer records of a replica that no process writes meanwhile. */
  async catchUp(reader: ReplicaReader): Promise<void> {
    const { revision } = reader.readPosition();
    const count = await readInto(this.#records, reader, this.#revision);
    this.#reached(revision);
    if (count > 0) this.#listeners.notify();
  }

  #reached(revision: number): void {
    this.#revision = revision;
    for (const [id, record] of this.#ahead) if (record.revision <= revision) this.#ahead.delete(id);
  }
}

/** Returns the number of rows. */
async function readInto(records: Map<string, StoredRecord>, reader: ReplicaReader, since: number): Promise<number> {
  let count = 0;
  for (let after: Omit<RecordRow, "value"> = { revision: since + 1, kind: "", key: "" }; ;) {
    const rows = reader.recordsAfter(after, pageRows);
    for (const row of rows) keepNewest(records, { ...row, value: row.value ?? undefined });
    count += rows.length;
    after = rows.at(-1) ?? after;
    if (rows.length < pageRows) return count;
    await turn();
  }
}

function keepNewest(records: Map<string, StoredRecord>, record: StoredRecord): void {
  const id = idOf(record);
  if ((records.get(id)?.revision ?? 0) <= record.revision) records.set(id, record);
}

function idOf({ kind, key }: StoredRecord): string {
  return JSON.stringify([kind, key]);
}
