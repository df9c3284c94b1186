/** What is known of one thing that the daemon tells. */
export interface LiveState<Value> {
  readonly value: Value | undefined;
  /** Why the last attempt brought nothing; the value before it stays. */
  readonly error: Error | undefined;
}

/** One thing that the daemon tells again and again: its last value, and who wants to know of changes. */
export class QueryState<Value> {
  readonly #ask: () => Promise<Value>;
  readonly #onWanted: () => void;
  readonly #listeners = new Set<() => void>();
  #state: LiveState<Value> = { value: undefined, error: undefined };
  #text: string | undefined;
  /** When it was last asked for; undefined when that does not count any more. */
  askedAtMs: number | undefined;
  /** When the daemon last said what the value is. */
  confirmedAtMs: number | undefined;
  isAsking = false;
  /** The daemon may tell by itself when it is another. */
  isFed = false;

  constructor(ask: () => Promise<Value>, onWanted: () => void) {
    this.#ask = ask;
    this.#onWanted = onWanted;
  }

  get isWanted(): boolean {
    return this.#listeners.size > 0;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#onWanted();
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): LiveState<Value> => this.#state;

  /** Asks once. Listeners hear of it when something is another than before. */
  async ask(): Promise<void> {
    this.askedAtMs = Date.now();
    this.isAsking = true;
    try {
      const value = await this.#ask();
      const text = JSON.stringify(value);
      const isSame = text === this.#text && this.#state.error === undefined;
      this.#text = text;
      this.confirmedAtMs = Date.now();
      if (!isSame) this.#set({ value, error: undefined });
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      if (failure.message !== this.#state.error?.message) this.#set({ ...this.#state, error: failure });
      throw failure;
    } finally {
      this.isAsking = false;
    }
  }

  #set(state: LiveState<Value>): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
