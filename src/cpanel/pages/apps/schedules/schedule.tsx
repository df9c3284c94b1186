import type { CronJob, CronRun } from "../../../../shared/contract/cron.js";
import { toPathSegments } from "../../../../shared/package-name.js";
import { Button } from "../../../components/button.js";
import { DataTable, type Column } from "../../../components/data-table.js";
import { DateAndTime } from "../../../components/date-and-time.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { Icon } from "../../../components/icon.js";
import { pluralize } from "../../../components/pluralize.js";
import { StateDot, type HealthState } from "../../../components/state-dot.js";
import { useMutation } from "../../../components/use-mutation.js";
import { useMay } from "../../../session/use-principal.js";
import { usePanel } from "../../../use-panel.js";
import { durationText } from "./duration-text.js";
import { RunMarks } from "./run-marks.js";
import "../../../components/card.css";

interface ScheduleProps {
  readonly job: CronJob;
  /** Runs the job now. Resolves when the run has ended. */
  readonly run: (params: { scope: string; name: string; index: string }) => Promise<{ readonly data: CronRun }>;
  readonly onRun: () => Promise<void>;
}

const states: Readonly<Record<CronRun["outcome"], HealthState>> = { ok: "ok", failed: "failing", skipped: "disabled", unknown: "degraded" };

const columns: readonly Column<CronRun>[] = [
  { id: "at", title: "Started", sortBy: ({ at }) => at, cell: ({ at }) => <DateAndTime atMs={at * 1000} /> },
  {
    id: "outcome",
    title: "Outcome",
    sortBy: ({ outcome }) => outcome,
    cell: ({ outcome, error }) => (
      <>
        <StateDot state={states[outcome]}>{outcome}</StateDot>
        {error !== undefined && <p className="quiet small">{error}</p>}
      </>
    ),
  },
  { id: "status", title: "Status", isNumeric: true, sortBy: ({ status }) => status ?? 0, cell: ({ status }) => status ?? "–" },
  {
    id: "duration",
    title: "Duration",
    isNumeric: true,
    sortBy: ({ durationMs }) => durationMs ?? -1,
    cell: ({ durationMs }) => durationText(durationMs),
  },
  {
    id: "trigger",
    title: "Started by",
    shownFrom: "wide",
    cell: ({ trigger, by }) => (trigger === "schedule" ? "schedule" : (by ?? "a key")),
  },
  { id: "version", title: "Version", shownFrom: "wide", cell: ({ version }) => version ?? "–" },
];
/** Column with the daemon of each run. Shown only if the runs contain the name of a daemon. */
const instanceColumn: Column<CronRun> = {
  id: "instance",
  title: "Instance",
  sortBy: ({ instance }) => instance ?? "",
  cell: ({ instance }) => instance ?? "–",
};

/** Card with one cron job: its schedule, its next run, its last runs as marks and as a table. */
export function Schedule({ job, run, onRun }: ScheduleProps) {
  const mayRun = useMay("workers:restart");
  const { toasts } = usePanel();
  const { isPending, error, dismiss, run: attempt } = useMutation();
  const { worker, index, schedule, method, endpoint, on, nextRun, isRunning, runs = [], problem } = job;
  const title = `${method} ${endpoint}`;
  const runText = isPending ? "Running…" : "Run now";
  const hasInstances = runs.some(({ instance }) => instance !== undefined);
  const failed = runs.filter(({ outcome }) => outcome === "failed").length;
  const runNow = () =>
    attempt(async () => {
      try {
        const { data } = await run({ ...toPathSegments(worker), index: String(index) });
        const status = data.status === null ? "" : `, status ${data.status}`;
        const text = `${title} ran: ${data.outcome}${status}, ${durationText(data.durationMs)}.`;
        toasts.say(text, { subject: `cron ${worker} ${index}`, tone: data.outcome === "failed" ? "danger" : "plain" });
      } finally {
        await onRun();
      }
    });
  return (
    <section className="card" aria-labelledby={`schedule-${index}`}>
      <div className="schedule-head">
        <div>
          <h2 id={`schedule-${index}`}>{title}</h2>
          <p className="quiet">
            <code>{schedule}</code> ·{on === "every" && " on every instance ·"}{" "}
            {isRunning ? (
              "running now"
            ) : nextRun === null ? (
              "no later run"
            ) : (
              <>
                next run <DateAndTime atMs={nextRun * 1000} />
              </>
            )}
          </p>
        </div>
        {mayRun && (
          <Button
            aria-label={`${runText}: ${title}`}
            isPending={isPending}
            isDisabled={isRunning && !isPending}
            onPress={() => void runNow()}
          >
            <Icon name="play" /> {runText}
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorMessage title={`${title} did not run`} error={error} onDismiss={dismiss} />}
      {problem !== undefined && <p className="quiet">{problem}</p>}
      {runs.length === 0 ? (
        <p className="quiet">No run yet.</p>
      ) : (
        <>
          <RunMarks runs={runs} label={`Last ${pluralize(runs.length, "run")} of ${title}, oldest first`} />
          <p className="quiet small">
            {pluralize(runs.length, "run")}, {failed === 0 ? "none failed" : `${failed} failed`}.{" "}
            <RunLegend hasUnknown={runs.some(({ outcome }) => outcome === "unknown")} />
          </p>
          <details className="schedule-runs">
            <summary>Runs as a table</summary>
            <DataTable
              caption={`Runs of ${title}`}
              columns={hasInstances ? [...columns, instanceColumn] : columns}
              rows={runs}
              keyOf={(shown) => `${shown.at} ${shown.trigger} ${runs.indexOf(shown)}`}
            />
          </details>
        </>
      )}
      {!mayRun && (
        <p className="quiet small">
          Running a job needs the permission <code>workers:restart</code>.
        </p>
      )}
    </section>
  );
}

function RunLegend({ hasUnknown }: { hasUnknown: boolean }) {
  return <span aria-hidden="true">✓ ok · ✕ failed · – skipped{hasUnknown && " · ? unknown"}</span>;
}
