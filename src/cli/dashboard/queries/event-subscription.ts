import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import { isRejectedKey } from "../../config/rejected-key.js";
import type { Client } from "../../../shared/client.js";
import { eventResources, touchedBy, type EventResource } from "../../../shared/touched-resources.js";
import { isAway } from "./is-away.js";
import type { QueryClient } from "./query-client.js";

const retryMs = 2000;
/**
 * Minimum time between two refreshes, which limits the requests during many changes. Each refresh combines the changes since the previous
 * refresh.
 */
const collectMs = 500;
/** Names of the queries to refresh after a change, by API resource. `isNamedIn` matches the names. */
const liveNames: Readonly<Record<EventResource, readonly string[]>> = {
  // A change to a worker can change its manifest, which requests hosts and secrets.
  workers: ["workers", "hosts", "secrets."],
  plugins: ["plugins", "plugins.loaded"],
  hosts: ["hosts"],
  secrets: ["secrets."],
  keys: ["keys"],
};

/** Names of all queries that events refresh. `isNamedIn` matches the names. */
export const fedNames: ReadonlySet<string> = new Set(eventResources.flatMap((resource) => liveNames[resource]));

/** Follows the event stream and refreshes changed queries immediately. Queries are also polled, at a lower rate. */
export class EventSubscription {
  readonly #live: QueryClient;
  readonly #closing = new AbortController();
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;

  constructor(live: QueryClient) {
    this.#live = live;
  }

  /**
   * Starts the event stream; further calls have no effect. If the daemon has no event stream or no free stream, polling continues at its
   * normal rate.
   */
  start(client: Client): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    void this.#run(client);
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  async #run(client: Client): Promise<void> {
    const { signal } = this.#closing;
    let lastEventId: number | undefined;
    while (!signal.aborted) {
      try {
        const onOpen = () => this.#live.setFed(true);
        for await (const { id, type } of client.events.stream.follow({ query: {} }, { signal, lastEventId, onOpen })) {
          lastEventId = id;
          this.#touch(touchedBy(type));
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!isAway(error)) return this.#end(error);
      }
      this.#live.setFed(false);
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #end(error: unknown): void {
    this.#live.setFed(false);
    // Requests the session again, because the daemon rejects the API key. That request also fails, which ends the session.
    if (isRejectedKey(error) || (error instanceof ApiError && error.status === 401)) this.#live.touch(new Set(["session"]));
  }

  #touch(resources: readonly EventResource[]): void {
    for (const name of resources.flatMap((resource) => liveNames[resource])) this.#pending.add(name);
    if (this.#timer === undefined) this.#flush();
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    this.#live.touch(this.#pending);
    this.#pending.clear();
    this.#timer = setTimeout(() => this.#flush(), collectMs);
  }
}
