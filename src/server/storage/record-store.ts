/** A row: `kind` such as "host" or "secret"; `key` is unique within its kind; `value` is JSON text, undefined once removed. */
export interface StoredRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string | undefined;
  /** Number of the change that the row has from. */
  readonly revision: number;
}

export interface RecordChange {
  readonly kind: string;
  readonly key: string;
  /** JSON text; undefined removes the record. */
  readonly value: string | undefined;
  /** The change happens only when the record has this revision now; 0: only when there is none, or it was removed. */
  readonly ifRevision?: number;
}

/**
 * Small rows of this daemon, or of all that share a primary. Reads are from memory or a local file, whatever the primary does. To follow
 * changes, read `readRevision` before `fetchSince` and continue from there: rows of this daemon can precede older ones of others. When the
 * revision goes back, the primary was restored: fetch from 0 and replace all.
 */
export interface RecordStore {
  /** All changes up to this revision are known here. */
  readRevision(): number;
  /** Returns the newest row of each record that changed after a revision, removed ones included, in order of revision. */
  fetchSince(revision: number): readonly StoredRecord[];
  /**
   * Makes all changes, to different records, or none. Resolves, when they are durable, with one row per change; with undefined when a
   * condition does not hold. Throws KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE, and nothing was changed then.
   */
  transact(changes: readonly RecordChange[]): Promise<readonly StoredRecord[] | undefined>;
  /** Calls after this or another daemon changed records. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}
