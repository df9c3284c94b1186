/** A row. `kind`: such as "host" or "secret"; `key`: unique within its kind; `value`: JSON text, undefined after the removal. */
export interface StoredRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string | undefined;
  /** Revision of the last change of the row. */
  readonly revision: number;
}

export interface RecordChange {
  readonly kind: string;
  readonly key: string;
  /** JSON text; undefined removes the record. */
  readonly value: string | undefined;
  /** The change requires that the record has this revision; 0: that it does not exist. */
  readonly ifRevision?: number;
}

/** Receives the newest rows of changed records, removed ones included; "all" after a primary was restored: fetch from 0 and replace all. */
export type RecordListener = (changed: readonly StoredRecord[] | "all") => void;

/**
 * Small rows of one daemon, or of several with a primary. Reads never wait for the primary. To follow changes, subscribe before the first
 * `fetchSince`.
 */
export interface RecordStore {
  /** The revision up to which all changes are known. */
  readRevision(): number;
  /** Returns the newest row of each record that changed after a revision, including removed ones, in the order of revisions. */
  fetchSince(revision: number): readonly StoredRecord[];
  /**
   * Makes all changes, of different records, or none. Resolves with one row per change when they are stored; with undefined if a condition
   * fails. Throws KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE and changes nothing then.
   */
  transact(changes: readonly RecordChange[]): Promise<readonly StoredRecord[] | undefined>;
  /** Called after a change by this or another daemon. Returns a function that unsubscribes. */
  onChange(listener: RecordListener): () => void;
}
