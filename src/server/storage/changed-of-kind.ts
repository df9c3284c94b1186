import type { RecordListener, RecordStore, StoredRecord } from "./record-store.js";

/** Returns the records of one kind that a listener has received. For "all", returns all records of this kind in the store. */
export function changedOfKind(
  changed: Parameters<RecordListener>[0],
  kind: string,
  records: Pick<RecordStore, "fetchSince">,
): readonly StoredRecord[] {
  return changed === "all" ? records.fetchSince(0, kind) : changed.filter((record) => record.kind === kind);
}
