import { eventResources, isNamedIn, type EventResource } from "../../shared/touched-resources.js";
import { QueryState } from "./query-state.js";

/** Polling interval of resources that events cover, for changes by hand. */
const fedIntervalMs = 60_000;
/** Their interval while no events arrive. */
const unfedIntervalMs = 10_000;

/** Resources to request after an event, by name, for `isNamedIn`. */
const names: Readonly<Record<EventResource, readonly string[]>> = {
  // A changed worker can have a manifest that requests other hosts and secrets.
  workers: ["workers", "hosts", "secrets.", "files.workers.", "files.roots.workers."],
  plugins: ["plugins", "plugins.loaded", "files.plugins.", "files.roots.plugins."],
  hosts: ["hosts"],
  secrets: ["secrets."],
  keys: ["keys", "health.verbose"],
};

/** The panel's resources, by name. Equal names must request the same resource, so that pages share responses. */
export class Resources {
  readonly #isOpen: () => boolean;
  readonly #byName = new Map<string, QueryState<unknown>>();
  #isFed = false;

  /** `isOpen` returns whether requests make sense now. */
  constructor({ isOpen }: { isOpen: () => boolean }) {
    this.#isOpen = isOpen;
  }

  of<Data>(name: string): QueryState<Data> {
    const known = this.#byName.get(name);
    if (known) return known as QueryState<Data>;
    const isTold = eventResources.some((told) => isNamedIn(names[told], name));
    const leastIntervalMs = () => (isTold ? (this.#isFed ? fedIntervalMs : unfedIntervalMs) : 0);
    const resource = new QueryState<Data>({ isOpen: this.#isOpen, leastIntervalMs });
    this.#byName.set(name, resource);
    return resource;
  }

  /** Sets whether the event stream works. */
  setFed(isFed: boolean): void {
    if (this.#isFed === isFed) return;
    this.#isFed = isFed;
    for (const resource of this.#byName.values()) resource.plan();
  }

  /** Requests the resources that changed. */
  touch(touched: ReadonlySet<EventResource>): void {
    for (const [name, resource] of this.#byName) if ([...touched].some((told) => isNamedIn(names[told], name))) resource.wake();
  }

  /** Requests all watched resources, because requests make sense again. */
  resume(): void {
    for (const resource of this.#byName.values()) resource.wake();
  }

  /** Drops all data: another key can see other data. */
  forget(): void {
    this.#byName.clear();
  }
}
