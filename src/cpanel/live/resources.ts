import { eventResources, isNamedIn, type EventResource } from "../../shared/touched-resources.js";
import { QueryState } from "./query-state.js";

/**
 * Polling interval of resources with change events while the event stream works. Polling finds changes that a user made by hand on the
 * disk, because the daemon sends no events for these changes.
 */
const fedIntervalMs = 60_000;
/** Polling interval of resources with change events while the event stream does not work. */
const unfedIntervalMs = 10_000;

/** Names of the resources to request again after an event. A name that ends in a dot stands for all names with this prefix. */
const names: Readonly<Record<EventResource, readonly string[]>> = {
  // A worker with a changed manifest can request other hosts and secrets.
  workers: ["workers", "workers.health", "hosts", "secrets.", "files.workers.", "files.roots.workers.", "activity.recent"],
  plugins: ["plugins", "plugins.loaded", "files.plugins.", "files.roots.plugins.", "activity.recent"],
  hosts: ["hosts", "activity.recent"],
  secrets: ["secrets.", "activity.recent"],
  keys: ["keys", "health.verbose", "activity.recent"],
  instances: ["instances", "activity.recent"],
  health: ["workers.health", "plugins"],
};

/**
 * Resources that also change without an event, such as when a daemon stops. The panel polls these resources at the intervals that the
 * components request.
 */
const polled: ReadonlySet<string> = new Set(["instances"]);

/** All resources that the panel polls, by name. If two pages use the same name, they share one resource and its responses. */
export class Resources {
  readonly #isOpen: () => boolean;
  readonly #byName = new Map<string, QueryState<unknown>>();
  #isFed = false;

  /** `isOpen` returns whether the panel can send requests now: signed in, daemon reachable, tab visible. */
  constructor({ isOpen }: { isOpen: () => boolean }) {
    this.#isOpen = isOpen;
  }

  of<Data>(name: string): QueryState<Data> {
    const known = this.#byName.get(name);
    if (known) return known as QueryState<Data>;
    const isTold = !polled.has(name) && eventResources.some((told) => isNamedIn(names[told], name));
    const leastIntervalMs = () => (isTold ? (this.#isFed ? fedIntervalMs : unfedIntervalMs) : 0);
    const resource = new QueryState<Data>({ isOpen: this.#isOpen, leastIntervalMs });
    this.#byName.set(name, resource);
    return resource;
  }

  /** Sets whether the event stream works, and adapts the polling intervals. */
  setFed(isFed: boolean): void {
    if (this.#isFed === isFed) return;
    this.#isFed = isFed;
    for (const resource of this.#byName.values()) resource.plan();
  }

  /** Requests the watched resources that a change affects. */
  touch(touched: ReadonlySet<EventResource>): void {
    for (const [name, resource] of this.#byName) if ([...touched].some((told) => isNamedIn(names[told], name))) resource.wake();
  }

  /** Requests all watched resources when requests are allowed again, such as when the tab becomes visible. */
  resume(): void {
    for (const resource of this.#byName.values()) resource.wake();
  }

  /** Deletes all data after a sign-out, because another key can see other data. */
  forget(): void {
    this.#byName.clear();
  }
}
