import { useEffect, useState, useSyncExternalStore } from "react";
import { LogFollower, type LogSnapshot } from "../log-follower.js";
import { useSession } from "./use-session.js";

/** What these workers write, for as long as the component is there. */
export function useLogFollower(names: readonly string[]): LogSnapshot {
  const session = useSession();
  const [feed] = useState(() => new LogFollower(session));
  useEffect(() => feed.follow(names), [feed, names]);
  useEffect(() => () => feed.close(), [feed]);
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}
