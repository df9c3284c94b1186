import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import { isRejectedKey } from "../../config/rejected-key.js";
import type { Client } from "../../../shared/client.js";
import { eventResources, touchedBy, type EventResource } from "../../../shared/touched-resources.js";
import { nounOf } from "../../../shared/contract/changes.js";
import type { RuntimeEvent } from "../../../shared/contract/events.js";
import { isAway } from "./is-away.js";
import type { QueryClient } from "./query-client.js";

const retryMs = 2000;
/**
 * Minimum time between two refreshes, which limits the requests during many changes. Each refresh combines the changes since the previous
 * refresh.
 */
const collectMs = 500;
/** Time in which a daemon usually receives a change that another daemon made. */
const receivedMs = 2000;
/** Number of events in memory, for the list of recent events. */
const keptEvents = 100;
/** The event stream starts with the events of this past period. */
const storedPeriod = "24h";
/**
 * Names of the queries to refresh after a change, by API resource. A name that ends with a dot stands for all names with this prefix (see
 * `isNamedIn`).
 */
const liveNames: Readonly<Record<EventResource, readonly string[]>> = {
  // Includes hosts and secrets, because a changed manifest can request other hosts and secrets.
  workers: ["workers", "health", "hosts", "secrets."],
  plugins: ["plugins", "plugins.loaded"],
  hosts: ["hosts"],
  secrets: ["secrets."],
  keys: ["keys"],
  instances: ["instances"],
  health: ["health", "plugins"],
};

/** Names of all queries that events refresh. A name that ends with a dot stands for all names with this prefix (see `isNamedIn`). */
export const fedNames: ReadonlySet<string> = new Set(eventResources.flatMap((resource) => liveNames[resource]));

/**
 * Follows the event stream and refreshes changed queries immediately. While the stream is open, the dashboard also polls the queries at a
 * lower rate.
 */
export class EventSubscription {
  readonly #live: QueryClient;
  readonly #closing = new AbortController();
  readonly #pending = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #recent: readonly RuntimeEvent[] = [];
  readonly #later = new Set<EventResource>();
  #laterTimer: NodeJS.Timeout | undefined;
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

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Returns the newest events, the newest first. */
  readonly recent = (): readonly RuntimeEvent[] => this.#recent;

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#laterTimer);
  }

  async #run(client: Client): Promise<void> {
    const { signal } = this.#closing;
    let lastEventId: string | undefined;
    const onPosition = (position: string) => (lastEventId = position);
    while (!signal.aborted) {
      try {
        const onOpen = () => this.#live.setFed(true);
        const query = { since: storedPeriod };
        for await (const event of client.events.stream.follow({ query }, { signal, lastEventId, onPosition, onOpen })) {
          this.#keep(event);
          this.#touch(touchedBy(event.type));
          this.#touchLater(event);
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
    // Requests the session again, because the daemon rejects the API key. The request fails too, and this failure ends the session.
    if (isRejectedKey(error) || (error instanceof ApiError && error.status === 401)) this.#live.touch(new Set(["session"]));
  }

  #keep(event: RuntimeEvent): void {
    if (nounOf(event.type) === "stream") return;
    this.#recent = [event, ...this.#recent.slice(0, keptEvents - 1)];
    for (const listener of this.#listeners) listener();
  }

  #touch(resources: readonly EventResource[]): void {
    for (const name of resources.flatMap((resource) => liveNames[resource])) this.#pending.add(name);
    if (this.#timer === undefined) this.#flush();
  }

  /** Refreshes once more after the daemon has received the change of another daemon. */
  #touchLater({ type, instance }: RuntimeEvent): void {
    if (instance === undefined) return;
    for (const resource of touchedBy(type)) this.#later.add(resource);
    this.#laterTimer ??= setTimeout(() => {
      this.#laterTimer = undefined;
      this.#touch([...this.#later]);
      this.#later.clear();
    }, receivedMs);
  }

  #flush(): void {
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    this.#live.touch(this.#pending);
    this.#pending.clear();
    this.#timer = setTimeout(() => this.#flush(), collectMs);
  }
}
