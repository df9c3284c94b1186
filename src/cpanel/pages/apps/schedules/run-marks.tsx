import type { CronRun } from "../../../../shared/contract/cron.js";
import { durationText } from "./duration-text.js";

/** Text for a run with the outcome `unknown`. The daemon stopped during the run, so it stored no error. */
const unknownText = "unknown, because its daemon stopped: the app was called once or not at all";

const signs: Readonly<Record<CronRun["outcome"], string>> = { ok: "✓", failed: "✕", skipped: "–", unknown: "?" };

/**
 * Row of marks for the runs of a job, oldest first. Each mark shows the outcome as a symbol, and the duration as a bar relative to the
 * longest run.
 */
export function RunMarks({ runs, label }: { runs: readonly CronRun[]; label: string }) {
  const longestMs = Math.max(1, ...runs.map(({ durationMs }) => durationMs ?? 0));
  return (
    <ol className="run-marks" aria-label={label}>
      {runs.toReversed().map((run, index) => {
        const text = describe(run);
        return (
          <li key={`${run.at} ${index}`} className={`run-mark run-${run.outcome}`} title={text}>
            <span aria-hidden="true" className="run-bar" style={{ height: `${Math.max(8, ((run.durationMs ?? 0) / longestMs) * 100)}%` }} />
            <span aria-hidden="true">{signs[run.outcome]}</span>
            <span className="visually-hidden">{text}</span>
          </li>
        );
      })}
    </ol>
  );
}

function describe({ at, outcome, status, durationMs, instance, error }: CronRun): string {
  const parts = [
    new Date(at * 1000).toLocaleString("en-GB"),
    outcome === "unknown" ? unknownText : outcome,
    status === null ? undefined : `status ${status}`,
    durationMs === null ? undefined : durationText(durationMs),
    instance === undefined ? undefined : `on ${instance}`,
    error,
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}
