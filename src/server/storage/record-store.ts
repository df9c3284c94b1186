/**
 * A stored row. `kind` is a name such as "host" or "secret". `key` is unique within one kind. `value` is JSON text, or undefined if the row
 * was removed.
 */
export interface StoredRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string | undefined;
  /** Revision of the last change to this row. */
  readonly revision: number;
}

export interface RecordChange {
  readonly kind: string;
  readonly key: string;
  /** New value as JSON text. Undefined removes the record. */
  readonly value: string | undefined;
  /** Revision that the record must have now. If the revision differs, the change fails. 0 means that the record must not exist. */
  readonly ifRevision?: number;
}

/**
 * Receives the newest rows of changed records, including removed records. After a primary was restored, receives "all", and must then fetch
 * all records from revision 0. `isAccepted`: an operator has given up the records that the primary lacks.
 */
export type RecordListener = (changed: readonly StoredRecord[] | "all", isAccepted: boolean) => void;

/**
 * Store of small rows for one daemon, or for several daemons with a primary. A read never waits for the primary. To follow changes, add a
 * listener first and then call `fetchSince`.
 */
export interface RecordStore {
  /** Returns the revision up to which this store has received all changes. */
  readRevision(): number;
  /**
   * Returns the newest row of each record that changed after a revision, including removed records. Sorted by revision. With `kind`, reads
   * and returns only records of this kind.
   */
  fetchSince(revision: number, kind?: string): readonly StoredRecord[];
  /**
   * Stores all changes or none. Two changes must not have the same record. Resolves with one row per change. Resolves with undefined if a
   * condition is not met. Throws KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE.
   */
  transact(changes: readonly RecordChange[]): Promise<readonly StoredRecord[] | undefined>;
  /** Adds a listener for changes by this daemon and by other daemons. Returns a function that removes the listener. */
  onChange(listener: RecordListener): () => void;
}
