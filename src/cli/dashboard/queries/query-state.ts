/** The last value of a query, and the error of its last request. */
export interface LiveState<Value> {
  readonly value: Value | undefined;
  /** The error of the last request. `value` is then the previous value. */
  readonly error: Error | undefined;
}

/** A query with its request, last result and listeners. */
export class QueryState<Value> {
  readonly #ask: () => Promise<Value>;
  readonly #onWanted: () => void;
  /** The listeners, each with its polling interval if it has one. */
  readonly #listeners = new Map<() => void, number | undefined>();
  #state: LiveState<Value> = { value: undefined, error: undefined };
  #text: string | undefined;
  /** Time of the last request. Undefined if the data is outdated and must be requested again. */
  askedAtMs: number | undefined;
  /** Time of the last successful response. */
  confirmedAtMs: number | undefined;
  isAsking = false;
  /** Whether events refresh this query. */
  isFed = false;

  constructor(ask: () => Promise<Value>, onWanted: () => void) {
    this.#ask = ask;
    this.#onWanted = onWanted;
  }

  get isWanted(): boolean {
    return this.#listeners.size > 0;
  }

  /** Shortest polling interval of the listeners. Undefined if at least one listener has no interval. The default interval then applies. */
  get intervalMs(): number | undefined {
    const intervals = [...this.#listeners.values()];
    return intervals.includes(undefined) ? undefined : Math.min(...(intervals as number[]));
  }

  readonly subscribe = (listener: () => void, intervalMs?: number): (() => void) => {
    this.#listeners.set(listener, intervalMs);
    this.#onWanted();
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): LiveState<Value> => this.#state;

  /** Sends the request once and notifies the listeners if the result changed. Rejects if the request fails. */
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
    for (const listener of this.#listeners.keys()) listener();
  }
}
