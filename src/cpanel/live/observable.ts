/** A value that components observe; it is replaced as a whole. */
export class Observable<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly get = (): Value => this.#value;

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
