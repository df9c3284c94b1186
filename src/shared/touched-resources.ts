import { nounOf } from "./contract/changes.js";
import type { EventType } from "./contract/events.js";

/** What a screen shows of a daemon, and events tell of. */
export const toldResources = ["workers", "plugins", "keys"] as const;
export type ToldResource = (typeof toldResources)[number];

const resourceOfNoun: Readonly<Partial<Record<string, ToldResource>>> = { worker: "workers", plugin: "plugins", key: "keys" };

/** What a screen should ask for again after an event: all of it where the stream begins, or events may be missing. */
export function touchedBy(type: EventType): readonly ToldResource[] {
  const noun = nounOf(type);
  if (noun === "stream") return toldResources;
  const resource = resourceOfNoun[noun];
  return resource === undefined ? [] : [resource];
}
