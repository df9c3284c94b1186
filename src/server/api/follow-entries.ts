import type { Operations } from "../../shared/client.js";
import type { EventFeed } from "../http/handler.js";
import { askInstance, type KnownInstances } from "../instances/ask-others.js";
import { parsePosition } from "../instances/entry-position.js";
import { readEntries, type Entry, type EntrySource } from "../instances/merged-entries.js";
import { hasPages, type StreamCall, type StreamSource } from "../instances/merged-stream.js";
import type { MergedStreams } from "../instances/merged-streams.js";

/** The daemons with the same primary, and the open streams with their entries. */
export interface StreamingInstances extends KnownInstances {
  readonly streams: MergedStreams;
}

/** Entries of this daemon and of others, as a list and as a stream. */
export type ListedSource<Offered extends Operations, Item extends Entry> = StreamSource<Offered, Item> &
  EntrySource<Offered, Item> & {
    /** Throws if this daemon has no such entries, for example because the worker is not installed. `isAbsent` recognizes this error. */
    readonly assertPresent?: () => Promise<void>;
  };

/** Returns a stream of the entries of the requested daemons. Throws INSTANCE_NOT_FOUND, INSTANCE_UNAVAILABLE or TOO_MANY_STREAMS. */
export async function followEntries<Offered extends Operations, Item extends Entry>(
  instances: StreamingInstances,
  source: StreamSource<Offered, Item> & Pick<ListedSource<Offered, Item>, "assertPresent">,
  call: StreamCall,
): Promise<EventFeed<Item>> {
  const { wanted, before, lastEventId } = call;
  const { registry } = instances;
  const named = wanted === "all" || wanted === "self" ? undefined : await registry.get(wanted);
  if (wanted === "self" || !registry.isShared) {
    await source.assertPresent?.();
    const positionOf = (text: string | undefined) => (text === undefined ? undefined : parsePosition(text, registry).get(registry.own.id));
    const start = { afterId: positionOf(lastEventId), beforeId: positionOf(before) };
    return (signal) => withOwnIds(source.follow(start, signal));
  }
  if (named && named.id !== registry.own.id) {
    const { key, offered } = source;
    await askInstance(instances, wanted, { key, offered, call: async () => undefined });
  } else await assertAnyPresent(instances, source, wanted);
  return instances.streams.feed(instances, source, call);
}

/** Throws if none of the requested daemons has such entries. Reads the entries of the other daemons only if this daemon has none. */
async function assertAnyPresent<Offered extends Operations, Item extends Entry>(
  instances: StreamingInstances,
  { assertPresent, ...source }: StreamSource<Offered, Item> & Pick<ListedSource<Offered, Item>, "assertPresent">,
  wanted: string,
): Promise<void> {
  try {
    await assertPresent?.();
  } catch (error) {
    if (!hasPages(source) || !source.isAbsent?.(error)) throw error;
    await readEntries(instances, { wanted, before: undefined }, source);
  }
}

async function* withOwnIds<Item extends Entry>(batches: AsyncIterable<readonly Item[]>) {
  for await (const batch of batches) yield batch.map((event) => ({ id: String(event.id), event }));
}
