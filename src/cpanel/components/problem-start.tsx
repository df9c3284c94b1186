import type { WorkerHealth } from "../../shared/contract/worker-health.js";
import { RelativeTime } from "./relative-time.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

interface ProblemStartProps extends Pick<WorkerHealth, "suspect" | "isSinceStart"> {
  /** Unix time in seconds at which the problem began. */
  readonly since: number;
}

/**
 * Shows how a problem began: with the deployment that probably caused the problem, or before the start of the daemon. Shows nothing if
 * neither is known.
 */
export function ProblemStart({ since, isSinceStart, suspect }: ProblemStartProps) {
  if (isSinceStart === true)
    return (
      <>
        at least since the start of the daemon, <time dateTime={new Date(since * 1000).toISOString()}>{startText(since, Date.now())}</time>
      </>
    );
  if (!suspect) return null;
  const { version, installedAt, by } = suspect;
  return (
    <>
      since {version}
      {(installedAt !== undefined || by !== undefined) && ", deployed"}
      {installedAt !== undefined && (
        <>
          {" "}
          <RelativeTime at={installedAt} />
        </>
      )}
      {by !== undefined && ` by ${by}`}
    </>
  );
}

/** Formats the time of a start, such as `14:02`. Adds the day if it is not today. `at` is Unix time in seconds. */
export function startText(at: number, nowMs: number): string {
  const atMs = at * 1000;
  const isToday = new Date(atMs).toDateString() === new Date(nowMs).toDateString();
  return (isToday ? clock : dayAndClock).format(atMs);
}
