import { list, type CronJob, type CronRun } from "../../../shared/contract/cron.js";
import { list as listWorkers } from "../../../shared/contract/workers.js";
import { isPackageName } from "../../../shared/package-name.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { instanceOption } from "../../command/instance-option.js";
import { ago, pluralize, toDateTime, toMilliseconds } from "../../output/format.js";
import { alignedTable } from "../../output/table.js";
import { findWorker } from "../workers/installed-worker.js";

const headings = ["WORKER", "INDEX", "SCHEDULE", "JOB", "NEXT RUN", "LAST RUN", "STARTED", "STATE"];
const runHeadings = ["INDEX", "STARTED", "OUTCOME", "STATUS", "DURATION", "TRIGGER", "INSTANCE", "ERROR"];

export const command = defineCommand<[name: string | undefined], { instance?: string }>({
  arguments: [{ syntax: "[name]", description: "Only jobs of this worker, with their last 50 runs" }],
  options: [instanceOption],
  fields: ["worker", "version", "index", "schedule", "method", "endpoint", "on", "nextRun", "isRunning", "lastRun", "runs", "problem"],
  examples: [
    ["runtimectl cron list", "the next and the last run of each job"],
    ["runtimectl cron list @team/shop", "the jobs of a worker with their last runs"],
    ["runtimectl cron list --json | jq '.jobs[] | select(.lastRun.outcome == \"failed\")'", "jobs whose last run failed"],
  ],
  notes:
    "Lists the jobs of active versions. Times are in UTC. In a pipe, the output contains the jobs; use --json for the runs.\n" +
    "A run fails with a status of 400 or more. A run is skipped while the previous run has not finished.\n" +
    "With several daemons, the list has the runs of all daemons. A run is unknown if its daemon stopped.",
  async run(context, [worker], { instance }) {
    if (worker !== undefined && !isPackageName(worker))
      throw usageError(`${JSON.stringify(worker)} is not the name of a worker`, "use a name such as @team/shop");
    const connection = await connect(context, { cron: { list }, workers: { list: listWorkers } });
    const jobs = await connection.client.cron.list({ query: { worker, instance } });
    if (worker !== undefined && jobs.length === 0) await findWorker(connection, worker);
    const { output } = context;
    const runs = jobs.flatMap(({ index, runs: ofJob = [] }) => ofJob.map((run) => runRow(index, run)));
    if (output.isAligned && runs.length > 0)
      output.laidOut(
        { jobs },
        [alignedTable(headings, jobs.map(jobRow), output.layout), alignedTable(runHeadings, runs, output.layout)].join("\n\n"),
      );
    else output.table({ jobs }, headings, jobs.map(jobRow));
    for (const problem of new Set(jobs.flatMap(({ problem: text }) => text ?? []))) output.note(problem);
    output.footer(jobs.length === 0 ? "no cron jobs; a manifest declares them with: cron" : pluralize(jobs.length, "cron job"));
  },
});

function jobRow({ worker, index, schedule, method, endpoint, nextRun, isRunning, lastRun }: CronJob): string[] {
  const last = lastRun === null ? ["-", "-"] : [outcomeText(lastRun), ago(lastRun.at, Date.now())];
  return [worker, String(index), schedule, `${method} ${endpoint}`, timeText(nextRun), ...last, isRunning ? "running" : "waiting"];
}

function runRow(index: number, { at, durationMs, status, outcome, trigger, by, instance = "-", error = "" }: CronRun): string[] {
  const cause = by === undefined ? trigger : `${trigger} by ${by}`;
  return [
    String(index),
    toDateTime(at),
    outcome,
    status === null ? "-" : String(status),
    toMilliseconds(durationMs),
    cause,
    instance,
    error,
  ];
}

function outcomeText({ outcome, status }: CronRun): string {
  return status === null ? outcome : `${outcome} ${status}`;
}

function timeText(unixSeconds: number | null): string {
  return unixSeconds === null ? "-" : toDateTime(unixSeconds);
}
