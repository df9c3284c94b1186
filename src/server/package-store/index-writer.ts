import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";

/** Number of attempts to change a row that other daemons change at the same time, and the pause before the next attempt in ms. */
const mostAttempts = 5;
const attemptPauseMs = 300;

/** Changes rows of the index, and recognizes whether a change that listeners receive is from this daemon. */
export class IndexWriter {
  readonly #records: RecordStore;
  /** The values that this daemon is currently writing to records, by kind and key. */
  readonly #ownValues = new Map<string, string | undefined>();

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** Stores the changes. If another daemon changed a row meanwhile, computes the changes again. Throws CHANGE_CONFLICT. */
  async transact(changesNow: () => readonly RecordChange[]): Promise<void> {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const changes = changesNow();
      if (changes.length === 0) return;
      for (const change of changes) this.#ownValues.set(idOf(change), change.value);
      try {
        if (await this.#records.transact(changes)) return;
      } finally {
        for (const change of changes) this.#ownValues.delete(idOf(change));
      }
      if (attempt < mostAttempts) await delay(attemptPauseMs);
    }
    throw new ApiError(
      "CHANGE_CONFLICT",
      "Another daemon changed the same package at the same time. Nothing was changed. Check the package, then retry.",
    );
  }

  /** Returns whether another daemon made a change that a listener has just received. */
  isElsewhere(record: StoredRecord): boolean {
    const id = idOf(record);
    return !this.#ownValues.has(id) || this.#ownValues.get(id) !== record.value;
  }
}

/** Returns a text that is unique for the record. */
export function idOf({ kind, key }: Pick<RecordChange, "kind" | "key">): string {
  return `${kind} ${key}`;
}

/** Returns the error for a change of package files if another daemon has changed the same package meanwhile. */
export function changedMeanwhile(name: string): ApiError {
  return new ApiError(
    "PRECONDITION_FAILED",
    `Another daemon changed ${name} after it was read. Nothing was written. Read the files again, then retry.`,
  );
}
