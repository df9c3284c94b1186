import { useEffect, useState } from "react";
import { stream, type RuntimeEvent } from "../../../shared/contract/events.js";
import { followStream, type OpenStream } from "../../live/follow-stream.js";
import { useApi } from "../../live/use-api.js";
import { fromEvent, type ActivityEntry } from "../activity/activity-entry.js";

const operations = { events: { stream } };
const query = { type: "worker.health,plugin.health", since: "7d" };
const none: readonly ActivityEntry[] = [];

/**
 * Follows the health changes that the key is allowed to see, while the component is mounted. Returns at most `most` health changes, newest
 * first.
 */
export function useHealthChanges(most: number): readonly ActivityEntry[] {
  const client = useApi(operations);
  const [changes, setChanges] = useState(none);
  useEffect(() => {
    const end = new AbortController();
    const open: OpenStream<RuntimeEvent> = (options) => client.events.stream.follow({ query }, { signal: end.signal, ...options });
    void followStream(open, {
      signal: end.signal,
      onPhase: () => undefined,
      take: (event) => {
        if (!event.type.endsWith(".health")) return;
        const change = fromEvent(event);
        setChanges((known) => [change, ...known.filter(({ key }) => key !== change.key)].slice(0, most));
      },
    });
    return () => {
      end.abort();
      setChanges(none);
    };
  }, [client, most]);
  return changes;
}
