import type { StoredRecord } from "../../storage/record-store.js";

interface RecordsOfKind {
  readonly kind: string;
  readonly byKey: Map<string, StoredRecord>;
}

/**
 * Records in memory, by kind and key. A daemon with 100,000 packages has 300,000 records. To save memory, all records of a kind share one
 * string for the kind, and each record shares the string of its key with the map.
 */
export class RecordTable {
  readonly #kinds = new Map<string, RecordsOfKind>();

  /** Number of records that are not removed. */
  get size(): number {
    let size = 0;
    for (const { byKey } of this.#kinds.values()) for (const { value } of byKey.values()) if (value !== undefined) size += 1;
    return size;
  }

  get({ kind, key }: Pick<StoredRecord, "kind" | "key">): StoredRecord | undefined {
    return this.#kinds.get(kind)?.byKey.get(key);
  }

  /** Stores a record, unless the table has a newer one. */
  put({ kind, key, value, revision }: StoredRecord): void {
    const records = this.#kinds.get(kind) ?? { kind, byKey: new Map<string, StoredRecord>() };
    this.#kinds.set(records.kind, records);
    if ((records.byKey.get(key)?.revision ?? 0) > revision) return;
    records.byKey.set(key, { kind: records.kind, key, value, revision });
  }

  /** Returns the records that changed after a revision, sorted by revision. Without `kind`, returns those of all kinds. */
  since(revision: number, kind: string | undefined): StoredRecord[] {
    const wanted = kind === undefined ? [...this.#kinds.values()] : [this.#kinds.get(kind)];
    const changed: StoredRecord[] = [];
    for (const records of wanted) {
      for (const record of records?.byKey.values() ?? []) if (record.revision > revision) changed.push(record);
    }
    return changed.toSorted((a, b) => a.revision - b.revision);
  }
}
