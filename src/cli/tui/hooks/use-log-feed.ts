import { useEffect, useState, useSyncExternalStore } from "react";
import { LogFeed, type LogSnapshot } from "../log-feed.js";
import { useSession } from "./use-session.js";

/** What these workers write, for as long as the component is there. */
export function useLogFeed(names: readonly string[]): LogSnapshot {
  const session = useSession();
  const [feed] = useState(() => new LogFeed(session));
  useEffect(() => feed.follow(names), [feed, names]);
  useEffect(() => () => feed.close(), [feed]);
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}
