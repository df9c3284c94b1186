import type Database from "better-sqlite3";
import { ChangeListeners } from "../storage/change-listeners.js";
import type { RecordChange, RecordListener, RecordStore, StoredRecord } from "../storage/record-store.js";

interface RecordRow {
  kind: string;
  key: string;
  value: string | null;
  revision: number;
}

interface LocalRecordStoreOptions {
  readonly database: Database.Database;
  /** Runs a change of the database. Throws ApiError if the file of the key store is damaged or not writable. */
  readonly write: <Result>(change: () => Result) => Result;
}

/** Record store in the table `records` of the key store's file. */
export class LocalRecordStore implements RecordStore {
  readonly #database: Database.Database;
  readonly #write: LocalRecordStoreOptions["write"];
  readonly #listeners = new ChangeListeners();

  constructor({ database, write }: LocalRecordStoreOptions) {
    this.#database = database;
    this.#write = write;
  }

  readRevision(): number {
    return this.#database.prepare<[], number>("SELECT coalesce(max(revision), 0) FROM records").pluck().get() ?? 0;
  }

  fetchSince(revision: number, kind?: string): StoredRecord[] {
    return this.#database
      .prepare<[{ revision: number; kind: string | null }], RecordRow>(
        "SELECT * FROM records WHERE revision > :revision AND (:kind IS NULL OR kind = :kind) ORDER BY revision, kind, key",
      )
      .all({ revision, kind: kind ?? null })
      .map((row) => ({ ...row, value: row.value ?? undefined }));
  }

  async transact(changes: readonly RecordChange[]): Promise<StoredRecord[] | undefined> {
    if (changes.length === 0) return [];
    const transaction = this.#database.transaction(() => {
      const revision = this.readRevision() + 1;
      if (!changes.every((change) => this.#holds(change))) return undefined;
      const put = this.#database.prepare(
        "INSERT INTO records (kind, key, value, revision) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, revision = excluded.revision",
      );
      for (const { kind, key, value } of changes) put.run(kind, key, value ?? null, revision);
      return changes.map(({ kind, key, value }) => ({ kind, key, value, revision }));
    });
    const stored = this.#write(() => transaction.immediate());
    if (stored) this.#listeners.notify(stored);
    return stored;
  }

  onChange(listener: RecordListener): () => void {
    return this.#listeners.add(listener);
  }

  #holds({ kind, key, ifRevision }: RecordChange): boolean {
    if (ifRevision === undefined) return true;
    const current = this.#database
      .prepare<[string, string], number>("SELECT revision FROM records WHERE kind = ? AND key = ? AND value IS NOT NULL")
      .pluck()
      .get(kind, key);
    return (current ?? 0) === ifRevision;
  }
}
