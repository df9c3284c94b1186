import { LiveResource, type ResourceGate } from "./live-resource.js";

/** What the panel knows of the daemon, by name: a name always means the same question, so that screens share answers. */
export class Resources {
  readonly #gate: ResourceGate;
  readonly #byName = new Map<string, LiveResource<unknown>>();

  constructor(gate: ResourceGate) {
    this.#gate = gate;
  }

  of<Data>(name: string): LiveResource<Data> {
    const known = this.#byName.get(name);
    if (known) return known as LiveResource<Data>;
    const resource = new LiveResource<Data>(this.#gate);
    this.#byName.set(name, resource);
    return resource;
  }

  /** The gate has opened: all that is watched is asked for. */
  resume(): void {
    for (const resource of this.#byName.values()) resource.resume();
  }

  /** Another key may see other things. */
  forget(): void {
    this.#byName.clear();
  }
}
