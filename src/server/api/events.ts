import type { EventFeed } from "../http/handler.js";
import { nounOf, isWantedType } from "../../shared/contract/changes.js";
import { permissionToSee, type RuntimeEvent } from "../../shared/contract/events.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover, namespacesWithin } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import type { ResourceHandlers } from "../http/handler.js";

/** The functions of the event log that these handlers use. */
export interface EventsPort {
  follow(
    passes: (event: RuntimeEvent) => boolean,
    start: { readonly lastEventId: number | undefined; readonly sinceMs: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<RuntimeEvent[]>;
}

export function createEventsHandlers(events: EventsPort): ResourceHandlers<"events"> {
  return {
    stream: ({ query: { type, worker, since }, lastEventId, principal }): EventFeed<RuntimeEvent> => {
      const sinceMs = since === undefined ? undefined : parsePastTimeMs(since, Date.now());
      const passes = (event: RuntimeEvent): boolean =>
        isWantedType(event.type, type) && (worker === undefined || concernsWorker(event, worker)) && maySee(principal, event);
      return (signal) => events.follow(passes, { lastEventId, sinceMs }, signal);
    },
  };
}

function concernsWorker({ type, subject }: RuntimeEvent, worker: string): boolean {
  return nounOf(type) === "worker" && subject?.name === worker;
}

/**
 * Returns true if the caller is allowed to see an event. The key needs the permission for the event's type. If the key is restricted to
 * namespaces, the subject must be in one of them, or the same key must have caused the event.
 */
function maySee({ id, permissions, namespaces }: Principal, { type, subject, principal }: RuntimeEvent): boolean {
  const needed = permissionToSee(type);
  if (needed === undefined) return true;
  if (!permissions.includes(needed)) return false;
  if (namespaces.includes("*") || principal?.id === id) return true;
  const isOfNamespace = nounOf(type) === "secret" && subject?.name === undefined;
  if (needed === "keys:read" || isOfNamespace) return namespacesWithin(subject?.namespaces ?? ["*"], namespaces);
  return namespacesCover(namespaces, subject?.name ?? "");
}
