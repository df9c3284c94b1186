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
 * Interval between reports of affected resources, which limits requests during many changes. Events within one interval are reported
 * together.
 */
const collectMs = 500;

interface ChangeFeedOptions {
  readonly connection: Pick<Connection, "client">;
  /** Callback that receives whether the event stream works. */
  readonly onFed: (isFed: boolean) => void;
  readonly onTouched: (touched: ReadonlySet<EventResource>) => void;
  /** Callback that runs when the daemon rejects the event stream with status 401. */
  readonly onRefused: () => void;
}

/**
 * Follows the daemon's events for one principal at a time, and reports the affected resources. The start of a stream affects all resources.
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

  /** Sets the principal for which the event stream is open. A new principal opens a new stream; undefined closes the stream. */
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
    for await (const { type } of client.events.stream.follow({ query: {} }, { signal })) {
      if (signal.aborted) return;
      // The stream counts as working only after its first event, because a proxy can forward the headers and hold back the content.
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
