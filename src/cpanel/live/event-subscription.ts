import type { ClientOf } from "../../shared/client.js";
import { ApiError } from "../../shared/api-error.js";
import { stream } from "../../shared/contract/events.js";
import type { Principal } from "../../shared/contract/principal.js";
import { touchedBy, type EventResource } from "../../shared/touched-resources.js";
import type { Connection } from "./connection.js";
import { pause } from "./pause.js";

const operations = { events: { stream } };
const firstRetryMs = 1000;
/** Longest pause between attempts to open the event stream. The pause doubles after each failure up to this limit. */
const longestRetryMs = 60_000;
/**
 * Interval between two reports of affected resources. All events of one interval lead to one report, which limits the number of requests
 * during many changes.
 */
const collectMs = 500;

interface ChangeFeedOptions {
  readonly connection: Pick<Connection, "client">;
  /** Callback that receives true when the event stream delivers its first event, and false when the stream stops. */
  readonly onFed: (isFed: boolean) => void;
  readonly onTouched: (touched: ReadonlySet<EventResource>) => void;
  /** Callback that runs when the daemon rejects the event stream with status 401. */
  readonly onRefused: () => void;
}

/**
 * Follows the daemon's event stream for one principal at a time. Reports the resources that the events affect. When a stream starts, all
 * resources count as affected.
 */
export class EventSubscription {
  readonly #options: ChangeFeedOptions;
  readonly #pending = new Set<EventResource>();
  #reader: Principal | undefined;
  #end = new AbortController();
  #retryMs = firstRetryMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /**
   * Sets the principal whose session authenticates the event stream. If the principal differs from the current one, opens a new stream.
   * Undefined closes the stream.
   */
  setReader(reader: Principal | undefined): void {
    if (reader === this.#reader) return;
    this.#reader = reader;
    this.#end.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending.clear();
    this.#options.onFed(false);
    if (!reader) return;
    this.#end = new AbortController();
    void this.#run(this.#options.connection.client(operations), this.#end.signal);
  }

  async #run(client: ClientOf<typeof operations>, signal: AbortSignal): Promise<void> {
    this.#retryMs = firstRetryMs;
    while (!signal.aborted) {
      try {
        await this.#follow(client, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.status === 401) return this.#options.onRefused();
      }
      if (signal.aborted) return;
      this.#options.onFed(false);
      await pause(this.#retryMs, signal);
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    }
  }

  async #follow(client: ClientOf<typeof operations>, signal: AbortSignal): Promise<void> {
    // Follows only the events of this daemon. Another daemon publishes a change before this daemon has received it. After receiving the
    // change, this daemon publishes an event of its own.
    for await (const { type } of client.events.stream.follow({ query: { instance: "self" } }, { signal })) {
      if (signal.aborted) return;
      // The event stream counts as working after its first event. Headers are no proof, because a proxy can forward the headers and hold
      // back the events.
      this.#options.onFed(true);
      this.#retryMs = firstRetryMs;
      this.#touch(touchedBy(type));
    }
  }

  #touch(touched: readonly EventResource[]): void {
    for (const resource of touched) this.#pending.add(resource);
    if (this.#timer === undefined) this.#flush();
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    this.#options.onTouched(new Set(this.#pending));
    this.#pending.clear();
    this.#timer = setTimeout(() => this.#flush(), collectMs);
  }
}
