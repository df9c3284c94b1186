import { Observable } from "./observable.js";

/** After failures a resource is asked for less often, down to once in this time. */
const longestPauseMs = 60_000;

export interface ResourceState<Data> {
  /** The last answer; it stays while the daemon is away. */
  readonly data: Data | undefined;
  /** Why the last question failed; undefined once one succeeded again. */
  readonly error: unknown;
  readonly isAsking: boolean;
  /** When the last answer came; milliseconds of the clock. */
  readonly answeredAtMs: number | undefined;
}

/** When questions make no sense: the tab is hidden, the daemon is away, or the session has ended. */
export interface ResourceGate {
  isOpen(): boolean;
}

/** One thing that the panel shows, asked for again and again while somebody looks at it. */
export class LiveResource<Data> {
  readonly state = new Observable<ResourceState<Data>>({ data: undefined, error: undefined, isAsking: false, answeredAtMs: undefined });
  readonly #gate: ResourceGate;
  readonly #watchers = new Map<symbol, { readonly ask: () => Promise<Data>; readonly intervalMs: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #asking: Promise<void> | undefined;

  constructor(gate: ResourceGate) {
    this.#gate = gate;
  }

  /** Asks at once, then in turn, until the returned function is called. */
  watch(ask: () => Promise<Data>, intervalMs: number): () => void {
    const watcher = Symbol("watcher");
    this.#watchers.set(watcher, { ask, intervalMs });
    void this.refresh();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) clearTimeout(this.#timer);
    };
  }

  /** Asks now, or waits for the answer that is on its way. */
  async refresh(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      this.#plan();
    });
    await this.#asking;
  }

  /** Asks after what is on its way has come: that may have been read before a change. */
  async refreshAfterChange(): Promise<void> {
    await this.#asking;
    await this.refresh();
  }

  /** The gate has opened. */
  resume(): void {
    if (this.#watchers.size > 0) void this.refresh();
  }

  async #ask(): Promise<void> {
    const [watcher] = this.#watchers.values();
    if (!watcher || !this.#gate.isOpen()) return;
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

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#watchers.size === 0 || !this.#gate.isOpen()) return;
    const shortest = Math.min(...[...this.#watchers.values()].map(({ intervalMs }) => intervalMs));
    if (!Number.isFinite(shortest)) return;
    const pauseMs = Math.min(shortest * 2 ** Math.min(this.#failures, 10), Math.max(shortest, longestPauseMs));
    this.#timer = setTimeout(() => void this.refresh(), pauseMs);
  }
}
