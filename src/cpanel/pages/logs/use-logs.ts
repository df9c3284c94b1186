import { useEffect, useMemo, useState } from "react";
import { Observable } from "../../live/observable.js";
import { useApi } from "../../live/use-api.js";
import { useObserved } from "../../live/use-observed.js";
import { emptyLog, LogFollower, logOperations, type LogState } from "./log-follower.js";
import type { LogQuery } from "./log-query.js";

const before = new Observable(emptyLog);

interface FollowedLogs extends LogState {
  readonly loadOlder: () => Promise<void>;
  readonly retry: () => void;
}

/** Follows logs while the component is mounted. A changed query opens a new stream. */
export function useLogs({ instance, worker, level, version, text, source, status, since, until }: LogQuery): FollowedLogs {
  const client = useApi(logOperations);
  const [attempt, setAttempt] = useState(0);
  const [follower, setFollower] = useState<LogFollower>();
  useEffect(() => {
    const opened = new LogFollower(client, { instance, worker, level, version, text, source, status, since, until });
    setFollower(opened);
    return () => opened.close();
  }, [client, instance, worker, level, version, text, source, status, since, until, attempt]);
  const state = useObserved(follower?.state ?? before);
  const loadOlder = useMemo(() => async () => follower?.loadOlder(), [follower]);
  return { ...state, loadOlder, retry: () => setAttempt(attempt + 1) };
}
