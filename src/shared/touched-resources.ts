import { nounOf } from "./contract/changes.js";
import type { EventType } from "./contract/events.js";

/** The API resources whose changes the daemon announces as events. `health` is the state of workers and plugins. */
export const eventResources = ["workers", "plugins", "hosts", "secrets", "keys", "instances", "health"] as const;
export type EventResource = (typeof eventResources)[number];

const resourceOfNoun: Readonly<Partial<Record<string, EventResource>>> = {
  worker: "workers",
  plugin: "plugins",
  host: "hosts",
  secret: "secrets",
  key: "keys",
  instance: "instances",
};

/** Whether `known` selects the query with this name. An entry of `known` that ends with a dot selects all names with this prefix. */
export function isNamedIn(known: Iterable<string>, name: string): boolean {
  return [...known].some((entry) => (entry.endsWith(".") ? name.startsWith(entry) : name === entry));
}

/**
 * Returns the resources that a client must reload after an event. Returns all resources at the start of the event stream, after lost
 * events, and after a resync.
 */
export function touchedBy(type: EventType): readonly EventResource[] {
  // The list of workers does not contain the health state, so clients do not need to reload this long list.
  if (type === "worker.health" || type === "plugin.health") return ["health"];
  const noun = nounOf(type);
  if (noun === "stream" || type === "index.resynced") return eventResources;
  const resource = resourceOfNoun[noun];
  return resource === undefined ? [] : [resource];
}
