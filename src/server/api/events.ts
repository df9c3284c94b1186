import { nounOf, isWantedType } from "../../shared/contract/changes.js";
import { permissionToSee, stream, type RuntimeEvent } from "../../shared/contract/events.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover, namespacesWithin } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { StreamSource } from "../instances/merged-stream.js";
import { followEntries, type StreamingInstances } from "./follow-entries.js";

/** The functions of the event log that these handlers use. */
export interface EventsPort {
  follow(
    passes: (event: RuntimeEvent) => boolean,
    start: { readonly lastEventId: number | undefined; readonly sinceMs: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<RuntimeEvent[]>;
}

export function createEventsHandlers(events: EventsPort, instances: StreamingInstances): ResourceHandlers<"events"> {
  return {
    stream: async ({ query: { type, worker, since, instance: wanted }, lastEventId, principal, key }) => {
      const sinceMs = since === undefined ? undefined : parsePastTimeMs(since, Date.now());
      const passes = (event: RuntimeEvent): boolean =>
        isWantedType(event.type, type) && (worker === undefined || concernsWorker(event, worker)) && maySee(principal, event);
      const query = { type: type?.join(","), worker, since, instance: "self" };
      const source: StreamSource<EventOperations, RuntimeEvent> = {
        key,
        offered,
        isVisible: (event) => nounOf(event.type) === "stream" || passes(event),
        // Sorts events about the stream itself before all other events.
        timeOf: (event) => (nounOf(event.type) === "stream" ? 0 : event.at),
        follow: ({ afterId }, signal) => events.follow(passes, { lastEventId: afterId, sinceMs }, signal),
        askToFollow: (client, options) => client.events.stream.follow({ query }, options),
        noticeOf: (message) => ({ id: 0, type: "stream.gap", at: Date.now(), message, isNotice: true }),
        // A repeat is a daemon's event about a change of another daemon. Omits a repeat if the stream contains the original event, or if
        // this daemon has repeated the change itself since its start.
        isOmitted: (event, { isOwn, isComplete }) =>
          (event.type === "stream.opened" && !isOwn) ||
          (event.isRepeat === true && (isComplete || (!isOwn && instances.registry.own.startedAtMs <= event.at))),
      };
      return followEntries(instances, source, { wanted, before: undefined, lastEventId });
    },
  };
}

const offered = { events: { stream } };
type EventOperations = typeof offered;

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
