import type { RecordListener, StoredRecord } from "./record-store.js";

/** Listeners that are called after a change of records. */
export class ChangeListeners {
  readonly #listeners = new Set<RecordListener>();

  /** Adds a listener. Returns a function that removes the listener. */
  add(listener: RecordListener): () => void {
    const own: RecordListener = (changed, isAccepted) => listener(changed, isAccepted);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(changed: readonly StoredRecord[] | "all", { isAccepted = false } = {}): void {
    for (const listener of this.#listeners) listener(changed, isAccepted);
  }
}
