/** Functions that are called after a change of records. */
export class ChangeListeners {
  readonly #listeners = new Set<() => void>();

  /** Returns a function that unsubscribes. */
  add(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
