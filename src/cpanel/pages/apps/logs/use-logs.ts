import { useEffect, useState } from "react";
import { Observable } from "../../../live/observable.js";
import { useApi } from "../../../live/use-api.js";
import { useObserved } from "../../../live/use-observed.js";
import { LogFollower, logOperations, type LogQuery, type LogState } from "./log-follower.js";

const before = new Observable<LogState>({ entries: [], total: 0, phase: "connecting", error: undefined });

/** Follows the log of an app while the component is mounted. A changed query opens a new stream. */
export function useLogs(name: string, { level, version, text, source, status }: LogQuery): LogState & { readonly retry: () => void } {
  const client = useApi(logOperations);
  const [attempt, setAttempt] = useState(0);
  const [follower, setFollower] = useState<LogFollower>();
  useEffect(() => {
    const opened = new LogFollower(client, name, { level, version, text, source, status });
    setFollower(opened);
    return () => opened.close();
  }, [client, name, level, version, text, source, status, attempt]);
  const state = useObserved(follower?.state ?? before);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}
