import { ApiError } from "../../src/shared/api-error.js";
import { ChangeListeners } from "../../src/server/storage/change-listeners.js";
import type { RecordChange, RecordListener, RecordStore, StoredRecord } from "../../src/server/storage/record-store.js";

/** Records of several daemons, in memory. Each daemon receives a change at once. */
export class FakeRecords implements RecordStore {
  readonly listeners = new ChangeListeners();
  rows: StoredRecord[] = [];
  revision = 7;
  isAway = false;
  /** Number of successful changes that changed a record. */
  changeCount = 0;

  readRevision(): number {
    return this.revision;
  }

  fetchSince(revision: number, kind?: string): StoredRecord[] {
    return this.rows.filter((row) => row.revision > revision && (kind === undefined || row.kind === kind));
  }

  async transact(changes: readonly RecordChange[]): Promise<StoredRecord[] | undefined> {
    if (this.isAway) throw new ApiError("KEY_STORE_UNAVAILABLE", "The primary is away.");
    const revisionOf = ({ kind, key }: RecordChange) => this.rows.find((row) => row.kind === kind && row.key === key)?.revision ?? 0;
    if (changes.some((change) => change.ifRevision !== undefined && change.ifRevision !== revisionOf(change))) return undefined;
    if (changes.length === 0) return [];
    this.revision += 1;
    this.changeCount += 1;
    const stored = changes.map(({ kind, key, value }) => ({ kind, key, value, revision: this.revision }));
    const kept = this.rows.filter(({ kind, key }) => !stored.some((row) => row.kind === kind && row.key === key));
    this.rows = [...kept, ...stored.filter(({ value }) => value !== undefined)];
    this.listeners.notify(stored);
    return stored;
  }

  onChange(listener: RecordListener): () => void {
    return this.listeners.add(listener);
  }
}
