import { isAway } from "./is-away.js";
import { QueryState } from "./query-state.js";

/** No more requests than this, however many things are on the screen. */
const pauseMs = 1000;
/** What events tell of is asked for so seldom: in case somebody changed a folder by hand. */
const fedRefreshMs = 10_000;
const longestBackOffMs = 30_000;
/** Answers that nobody looks at any more are kept for a return, but not of everything that was ever selected. */
const mostResources = 100;

/** How it stands between the dashboard and the daemon. */
type Contact =
  | { readonly kind: "none" }
  | { readonly kind: "live" }
  | { readonly kind: "away"; readonly sinceMs: number; readonly nextTryAtMs: number; readonly error: Error };

/**
 * Asks the daemon for what is on the screen: each thing at once when it appears or was touched, then in turn, one request a second at most,
 * and seldom for what the daemon tells of by itself. When the
 * daemon is away one of them is tried, after 1 s and then more seldom, to 30 s; the answer wakes the others.
 */
export class QueryClient {
  readonly #refreshMs: number;
  readonly #onRefused: (error: Error) => void;
  readonly #fedNames: ReadonlySet<string>;
  #isFed = false;
  readonly #resources = new Map<string, QueryState<unknown>>();
  readonly #listeners = new Set<() => void>();
  #contact: Contact = { kind: "none" };
  #failures = 0;
  /** How often the daemon was missed so far. */
  #missCount = 0;
  #lastPollAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onRefused` hears of every failure that is not the daemon's absence. */
  constructor(options: {
    readonly refreshMs: number;
    readonly onRefused: (error: Error) => void;
    /** Of these the daemon tells by itself, while `setFed(true)` holds. */
    readonly fedNames?: ReadonlySet<string>;
  }) {
    this.#refreshMs = options.refreshMs;
    this.#onRefused = options.onRefused;
    this.#fedNames = options.fedNames ?? new Set();
  }

  /** The resource of this name, made when it is first asked for. A name always means the same. */
  resource<Value>(name: string, ask: () => Promise<Value>): QueryState<Value> {
    const existing = this.#resources.get(name) as QueryState<Value> | undefined;
    if (existing) return existing;
    const resource = new QueryState(ask, () => this.#schedule());
    resource.isFed = this.#fedNames.has(name);
    this.#resources.set(name, resource);
    if (this.#resources.size > mostResources) this.#forgetOldest(name);
    return resource;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly contact = (): Contact => this.#contact;

  /** Asks for everything on the screen now, also while the daemon is away; resources that are not there are asked when they appear. */
  refresh(): void {
    for (const resource of this.#resources.values()) resource.askedAtMs = undefined;
    if (this.#contact.kind === "away") this.#contact = { ...this.#contact, nextTryAtMs: 0 };
    this.#schedule();
  }

  /** Whether the daemon tells of changes. */
  setFed(isFed: boolean): void {
    this.#isFed = isFed;
    this.#schedule();
  }

  /** What has these names is another now: it is asked for at once where it is on the screen, else when it appears. */
  touch(names: ReadonlySet<string>): void {
    for (const name of names) {
      const resource = this.#resources.get(name);
      if (resource) resource.askedAtMs = undefined;
    }
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Asks what is due, and comes back when the next is. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const wanted = [...this.#resources.values()].filter(({ isWanted, isAsking }) => isWanted && !isAsking);
    const now = Date.now();
    const dueAtMs = this.#contact.kind === "away" ? this.#askWhileAway(wanted, now) : this.#askInTurn(wanted, now);
    if (dueAtMs !== undefined) this.#timer = setTimeout(() => this.#schedule(), Math.max(0, dueAtMs - now));
  }

  #askInTurn(wanted: readonly QueryState<unknown>[], now: number): number | undefined {
    const fresh = wanted.filter(({ askedAtMs }) => askedAtMs === undefined);
    for (const resource of fresh) void this.#ask(resource);
    const due = wanted.filter(({ isAsking }) => !isAsking).map((resource) => ({ resource, atMs: this.#dueAtMs(resource) }));
    const [first] = due.toSorted((a, b) => a.atMs - b.atMs);
    if (first === undefined) return undefined;
    const dueAtMs = Math.max(first.atMs, this.#lastPollAtMs + pauseMs);
    if (dueAtMs > now) return dueAtMs;
    this.#lastPollAtMs = now;
    void this.#ask(first.resource);
    return now + pauseMs;
  }

  #dueAtMs(resource: QueryState<unknown>): number {
    const refreshMs = this.#isFed && resource.isFed ? Math.max(this.#refreshMs, fedRefreshMs) : this.#refreshMs;
    return (resource.askedAtMs ?? 0) + refreshMs;
  }

  #askWhileAway([first]: readonly QueryState<unknown>[], now: number): number | undefined {
    if (this.#contact.kind !== "away" || first === undefined) return undefined;
    if (this.#contact.nextTryAtMs > now) return this.#contact.nextTryAtMs;
    void this.#ask(first);
    return undefined;
  }

  async #ask(resource: QueryState<unknown>): Promise<void> {
    const missCount = this.#missCount;
    try {
      await resource.ask();
      this.#answered(missCount);
    } catch (error) {
      if (isAway(error)) this.#missed(error as Error);
      else {
        this.#answered(missCount);
        if (!this.#isClosed) this.#onRefused(error as Error);
      }
    }
    this.#schedule();
  }

  #forgetOldest(newest: string): void {
    for (const [name, { isWanted }] of this.#resources)
      if (!isWanted && name !== newest) {
        this.#resources.delete(name);
        return;
      }
  }

  /** `missCount` is how often the daemon had been missed when this was asked. */
  #answered(missCount: number): void {
    // A response to a call from before the daemon was missed does not show its return. Taken for one, it would wake the call that failed,
    // again and again, as fast as the daemon rejects it.
    if (this.#contact.kind === "away" && missCount !== this.#missCount) return;
    this.#failures = 0;
    if (this.#contact.kind === "live") return;
    if (this.#contact.kind === "away") for (const resource of this.#resources.values()) resource.askedAtMs = undefined;
    this.#setContact({ kind: "live" });
  }

  #missed(error: Error): void {
    this.#missCount += 1;
    const now = Date.now();
    const isKnown = this.#contact.kind === "away";
    // Those that were under way when the daemon left failed for the same reason: one step back for all of them.
    if (isKnown && this.#contact.kind === "away" && this.#contact.nextTryAtMs > now) return;
    const stepMs = Math.min(longestBackOffMs, pauseMs * 2 ** this.#failures);
    this.#failures += 1;
    // Many dashboards must not come back in the same moment.
    const waitMs = Math.max(pauseMs, stepMs * (0.5 + Math.random() / 2));
    this.#setContact({
      kind: "away",
      sinceMs: this.#contact.kind === "away" ? this.#contact.sinceMs : now,
      nextTryAtMs: now + waitMs,
      error,
    });
  }

  #setContact(contact: Contact): void {
    this.#contact = contact;
    for (const listener of this.#listeners) listener();
  }
}
