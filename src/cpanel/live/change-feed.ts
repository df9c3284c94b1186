import type { ClientOf } from "../../shared/client.js";
import { ApiError } from "../../shared/api-error.js";
import { stream } from "../../shared/contract/events.js";
import type { Principal } from "../../shared/contract/principal.js";
import { touchedBy, type ToldResource } from "../../shared/touched-resources.js";
import type { Connection } from "./connection.js";
import { pause } from "./pause.js";

const operations = { events: { stream } };
const firstRetryMs = 1000;
/** A daemon that has no stream to give is asked for one so seldom. */
const longestRetryMs = 60_000;
/** Many changes in a row are asked for together, so often. */
const collectMs = 500;

interface ChangeFeedOptions {
  readonly connection: Connection;
  /** Whether the daemon tells of changes now. */
  readonly onFed: (isFed: boolean) => void;
  readonly onTouched: (touched: ReadonlySet<ToldResource>) => void;
  /** The credential does not count any more. */
  readonly onRefused: () => void;
}

/** Follows what happens on the daemon, for one reader at a time, and says what that touched. At its beginning everything may be. */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #pending = new Set<ToldResource>();
  #reader: Principal | undefined;
  #end = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** For whom: another one, or one who signed in anew, gets a stream of their own. Undefined while nobody is to be told. */
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
    for (let retryMs = firstRetryMs; !signal.aborted; retryMs = Math.min(retryMs * 2, longestRetryMs)) {
      try {
        if (await this.#follow(client, signal)) retryMs = firstRetryMs;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.status === 401) return this.#options.onRefused();
      }
      if (signal.aborted) return;
      this.#options.onFed(false);
      await pause(retryMs, signal);
    }
  }

  /** Answers, once the stream ends, with whether there was anything in it. */
  async #follow(client: ClientOf<typeof operations>, signal: AbortSignal): Promise<boolean> {
    let hasBegun = false;
    for await (const { type } of client.events.stream.follow({ query: {} }, { signal })) {
      if (signal.aborted) break;
      hasBegun = true;
      // Not sooner: a proxy may hand on the head of a stream and keep what is in it.
      this.#options.onFed(true);
      this.#touch(touchedBy(type));
    }
    return hasBegun;
  }

  #touch(touched: readonly ToldResource[]): void {
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
