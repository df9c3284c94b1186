import { Observable } from "./observable.js";

/** Longest pause before the panel repeats a failed request. The pause doubles after each failure up to this limit. */
const longestPauseMs = 60_000;

export interface ResourceState<Data> {
  /** Data of the last successful response. The data stays available while the daemon is unreachable. */
  readonly data: Data | undefined;
  /** Error of the last request. Undefined if the last request succeeded. */
  readonly error: unknown;
  readonly isAsking: boolean;
  /** Time of the last successful response, in Unix milliseconds. */
  readonly answeredAtMs: number | undefined;
}

/** Conditions under which the panel sends requests for a resource. The conditions apply to all components that show the resource. */
export interface ResourceConditions {
  /**
   * Returns whether requests are allowed. Returns false while the tab is hidden, while the daemon is unreachable, or after the session has
   * expired.
   */
  readonly isOpen: () => boolean;
  /** Returns the minimum polling interval in milliseconds. If a component asks for a shorter interval, the minimum applies. */
  readonly leastIntervalMs: () => number;
}

/** A resource of the API. The panel polls the resource while a component shows it. */
export class QueryState<Data> {
  readonly state = new Observable<ResourceState<Data>>({ data: undefined, error: undefined, isAsking: false, answeredAtMs: undefined });
  readonly #conditions: ResourceConditions;
  readonly #watchers = new Map<symbol, { readonly ask: () => Promise<Data>; readonly intervalMs: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #asking: Promise<void> | undefined;

  constructor(conditions: ResourceConditions) {
    this.#conditions = conditions;
  }

  /** Requests the resource immediately and then at intervals. Returns a function that ends the polling. */
  watch(ask: () => Promise<Data>, intervalMs: number): () => void {
    const watcher = Symbol("watcher");
    this.#watchers.set(watcher, { ask, intervalMs });
    void this.refresh();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) clearTimeout(this.#timer);
    };
  }

  /** Requests the resource now. If a request is already pending, waits for its response instead. */
  async refresh(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      this.plan();
    });
    await this.#asking;
  }

  /**
   * Requests the resource after a change. If a request is pending, waits for it and then sends another request, because the pending
   * response can be older than the change.
   */
  async refreshAfterChange(): Promise<void> {
    await this.#asking;
    await this.refresh();
  }

  /** Requests the resource if a component shows it. Callers run this method after a change, and when requests are allowed again. */
  wake(): void {
    if (this.#watchers.size > 0) void this.refreshAfterChange();
  }

  /** Restarts the timer for the next request, with the current interval. */
  plan(): void {
    clearTimeout(this.#timer);
    if (this.#watchers.size === 0 || !this.#conditions.isOpen()) return;
    const wantedMs = Math.min(...[...this.#watchers.values()].map(({ intervalMs }) => intervalMs));
    if (!Number.isFinite(wantedMs)) return;
    const intervalMs = Math.max(wantedMs, this.#conditions.leastIntervalMs());
    const pauseMs = Math.min(intervalMs * 2 ** Math.min(this.#failures, 10), Math.max(intervalMs, longestPauseMs));
    this.#timer = setTimeout(() => void this.refresh(), pauseMs);
  }

  async #ask(): Promise<void> {
    const [watcher] = this.#watchers.values();
    if (!watcher || !this.#conditions.isOpen()) return;
    this.state.set({ ...this.state.get(), isAsking: true });
    try {
      const data = await watcher.ask();
      this.#failures = 0;
      this.state.set({ data, error: undefined, isAsking: false, answeredAtMs: Date.now() });
    } catch (error) {
      this.#failures += 1;
      this.state.set({ ...this.state.get(), error, isAsking: false });
    }
  }
}
