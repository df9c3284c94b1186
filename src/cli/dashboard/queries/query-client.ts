import { isNamedIn } from "../../../shared/touched-resources.js";
import { isAway } from "./is-away.js";
import { QueryState } from "./query-state.js";

/** Minimum time between two polling requests. This pause limits the load on the daemon, regardless of the number of queries. */
const pauseMs = 500;
/**
 * Polling interval for queries that events also refresh. Polling finds folders that a user changed by hand, for which the daemon sends no
 * events.
 */
const fedRefreshMs = 10_000;
const shortestBackOffMs = 1000;
const longestBackOffMs = 30_000;
/** Maximum number of cached queries, which limits memory. The number includes queries that no screen shows. */
const mostResources = 100;

/** The connection state: no response yet, connected, or unreachable. */
type Contact =
  | { readonly kind: "none" }
  | { readonly kind: "live" }
  | { readonly kind: "away"; readonly sinceMs: number; readonly nextTryAtMs: number; readonly error: Error };

/**
 * Runs a query when its component is mounted and after events. In addition, polls with at most two requests per second. While the daemon is
 * unreachable, repeats one query with a backoff from 1 s to 30 s.
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
  /** Number of requests so far that failed because the daemon was unreachable. */
  #missCount = 0;
  #lastPollAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onRefused` is called for every error of a query, except when the daemon is unreachable. */
  constructor(options: {
    readonly refreshMs: number;
    readonly onRefused: (error: Error) => void;
    /**
     * Names of queries that events refresh while the event stream is connected. A name that ends with a dot stands for all names with this
     * prefix (see `isNamedIn`).
     */
    readonly fedNames?: ReadonlySet<string>;
  }) {
    this.#refreshMs = options.refreshMs;
    this.#onRefused = options.onRefused;
    this.#fedNames = options.fedNames ?? new Set();
  }

  /** Returns the query with this name, and creates it on first use. All callers must use the same request for a name. */
  resource<Value>(name: string, ask: () => Promise<Value>): QueryState<Value> {
    const existing = this.#resources.get(name) as QueryState<Value> | undefined;
    if (existing) return existing;
    const resource = new QueryState(ask, () => this.#schedule());
    resource.isFed = isNamedIn(this.#fedNames, name);
    this.#resources.set(name, resource);
    if (this.#resources.size > mostResources) this.#forgetOldest(name);
    return resource;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly contact = (): Contact => this.#contact;

  /** Runs the queries of all mounted components now, even if the daemon is unreachable. Other queries run when a component mounts them. */
  refresh(): void {
    for (const resource of this.#resources.values()) resource.askedAtMs = undefined;
    if (this.#contact.kind === "away") this.#contact = { ...this.#contact, nextTryAtMs: 0 };
    this.#schedule();
  }

  /** Sets whether the event stream is connected. While it is connected, polls the queries in `fedNames` less often. */
  setFed(isFed: boolean): void {
    this.#isFed = isFed;
    this.#schedule();
  }

  /**
   * Marks the named queries as outdated. Queries of mounted components run now, others when a component mounts them. A name that ends with
   * a dot stands for all names with this prefix (see `isNamedIn`).
   */
  touch(names: ReadonlySet<string>): void {
    for (const [name, resource] of this.#resources) if (isNamedIn(names, name)) resource.askedAtMs = undefined;
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Runs the queries that are due, and sets the timer for the next query. */
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
    const leastMs = resource.intervalMs ?? (this.#isFed && resource.isFed ? fedRefreshMs : 0);
    return (resource.askedAtMs ?? 0) + Math.max(this.#refreshMs, leastMs);
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

  /** Handles a response. `missCount` is the value that `#missCount` had when the request was sent. */
  #answered(missCount: number): void {
    // Ignores a response whose request precedes the failure, because such a response does not prove that the daemon is reachable now.
    // Otherwise, the failing query would be repeated without backoff.
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
    // Counts parallel requests that fail together as one failure, because they have the same cause.
    if (isKnown && this.#contact.kind === "away" && this.#contact.nextTryAtMs > now) return;
    const stepMs = Math.min(longestBackOffMs, shortestBackOffMs * 2 ** this.#failures);
    this.#failures += 1;
    // Adds jitter, because several dashboards must not retry at the same time.
    const waitMs = Math.max(shortestBackOffMs, stepMs * (0.5 + Math.random() / 2));
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
