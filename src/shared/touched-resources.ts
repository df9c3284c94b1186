import { nounOf } from "./contract/changes.js";
import type { EventType } from "./contract/events.js";

/** What a screen shows of a daemon, and events tell of. */
export const eventResources = ["workers", "plugins", "keys"] as const;
export type EventResource = (typeof eventResources)[number];

const resourceOfNoun: Readonly<Partial<Record<string, EventResource>>> = { worker: "workers", plugin: "plugins", key: "keys" };

/** What a screen should ask for again after an event: all of it where the stream begins, or events may be missing. */
export function touchedBy(type: EventType): readonly EventResource[] {
  const noun = nounOf(type);
  if (noun === "stream") return eventResources;
  const resource = resourceOfNoun[noun];
  return resource === undefined ? [] : [resource];
}
