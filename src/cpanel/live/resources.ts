import { eventResources, type EventResource } from "../../shared/touched-resources.js";
import { QueryState } from "./query-state.js";

/** What the daemon tells of is asked for so seldom while it does: in case somebody changed a folder by hand. */
const fedIntervalMs = 60_000;
/** And so often while it does not. */
const unfedIntervalMs = 10_000;

/** The names of what is asked for again when one of these was touched; those that end in a dot stand for all that begin so. */
const names: Readonly<Record<EventResource, readonly string[]>> = {
  workers: ["workers", "files.workers.", "files.roots.workers."],
  plugins: ["plugins", "plugins.loaded", "files.plugins.", "files.roots.plugins."],
  keys: ["keys", "health.verbose"],
};

/** What the panel knows of the daemon, by name: a name always means the same question, so that screens share answers. */
export class Resources {
  readonly #isOpen: () => boolean;
  readonly #byName = new Map<string, QueryState<unknown>>();
  #isFed = false;

  /** `isOpen` says whether questions make sense now. */
  constructor({ isOpen }: { isOpen: () => boolean }) {
    this.#isOpen = isOpen;
  }

  of<Data>(name: string): QueryState<Data> {
    const known = this.#byName.get(name);
    if (known) return known as QueryState<Data>;
    const isTold = eventResources.some((told) => isNamed(name, told));
    const leastIntervalMs = () => (isTold ? (this.#isFed ? fedIntervalMs : unfedIntervalMs) : 0);
    const resource = new QueryState<Data>({ isOpen: this.#isOpen, leastIntervalMs });
    this.#byName.set(name, resource);
    return resource;
  }

  /** Whether the daemon tells of changes by itself. */
  setFed(isFed: boolean): void {
    if (this.#isFed === isFed) return;
    this.#isFed = isFed;
    for (const resource of this.#byName.values()) resource.plan();
  }

  /** The daemon told that these have changed. */
  touch(touched: ReadonlySet<EventResource>): void {
    for (const [name, resource] of this.#byName) if ([...touched].some((told) => isNamed(name, told))) resource.wake();
  }

  /** The gate has opened: all that is watched is asked for. */
  resume(): void {
    for (const resource of this.#byName.values()) resource.wake();
  }

  /** Another key may see other things. */
  forget(): void {
    this.#byName.clear();
  }
}

function isNamed(name: string, told: EventResource): boolean {
  return names[told].some((known) => (known.endsWith(".") ? name.startsWith(known) : name === known));
}
