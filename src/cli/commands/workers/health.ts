import { health, workerStates, type WorkerHealth } from "../../../shared/contract/worker-health.js";
import { list } from "../../../shared/contract/workers.js";
import { connect } from "../../client/connection.js";
import { instanceOption, warnOfMissing } from "../../command/instance-option.js";
import { CommandError, usageError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { isPackageName } from "../../../shared/package-name.js";
import { ago, toDateTime } from "../../output/format.js";
import { uploadedWorkers } from "../../uploaded-workers.js";

const headings = ["NAME", "VERSION", "STATE", "SINCE", "REASON", "LAST ERROR"];

export const command = defineCommand<[name: string | undefined], { instance?: string }>({
  arguments: [{ syntax: "[name]", description: "Only this worker, with details" }],
  options: [instanceOption],
  fields: ["name", "version", "state", "since", "isSinceStart", "reason", "lastError", "suspect", "rollbackTo", "instance", "instances"],
  examples: [
    ["runtimectl workers health", "list all workers, those with a problem first"],
    ["runtimectl workers health @team/shop", "show since when and why a worker fails"],
    ["runtimectl workers health --json | jq -r '.workers[] | select(.state == \"failing\") | .name'", "list the failing workers"],
  ],
  notes: `failing: it cannot start, or 25 % or more of the requests of the last minute failed.
backoff: it crashed repeatedly, and the daemon delays its next start.
degraded: it serves with a problem: failed or slow requests, a full data folder, or a failed cron job.
idle: no request in the last minute. disabled: no version is enabled.
A worker whose last requests all failed keeps its state until a request succeeds or another version becomes active.
With several daemons, the row has the most severe state, and INSTANCES lists the daemons with a problem.`,
  async run(context, [name], { instance }) {
    if (name !== undefined && !isPackageName(name))
      throw usageError(`${JSON.stringify(name)} is not a valid worker name`, "use a name such as hello or @team/app");
    const { client } = await connect(context, { workers: { list, health } });
    if (name !== undefined) return showOne(context, name, await client.workers.health({ query: { worker: name, instance } }));
    const [installed, found] = await Promise.all([client.workers.list(), client.workers.health({ query: { instance } })]);
    const uploaded = new Set(uploadedWorkers(installed).map((worker) => worker.name));
    const builtIn = new Set(installed.flatMap((worker) => (uploaded.has(worker.name) ? [] : worker.name)));
    const workers = found.filter((worker) => !builtIn.has(worker.name)).toSorted((a, b) => severity(a) - severity(b));
    const isShared = workers.some(({ instances }) => instances !== undefined);
    const rows = workers.map((worker) => [
      worker.name,
      worker.version ?? "-",
      worker.state,
      timeText(context, worker.since),
      worker.reason ?? "",
      lastErrorText(worker) ?? "",
      ...(isShared ? [troubledInstances(worker).join(", ")] : []),
    ]);
    context.output.table({ workers }, isShared ? [...headings, "INSTANCES"] : headings, rows);
    warnOfMissing(context.output, "states", found[0]?.instances);
    const troubled = workers.filter(({ reason }) => reason !== undefined).length;
    context.output.footer(
      rows.length === 0
        ? "no workers; to deploy a folder: runtimectl deploy ./dir"
        : `${troubled} of ${rows.length} with a problem; for details: runtimectl workers health NAME`,
    );
  },
});

function showOne(context: Context, name: string, [worker]: readonly WorkerHealth[]): void {
  if (!worker)
    throw new CommandError("WORKER_NOT_FOUND", `no worker named ${name} is installed`, {
      exitCode: exitCodes.notFound,
      hint: "runtimectl workers list",
    });
  const { lastError, suspect } = worker;
  context.output.facts(worker, [
    ["worker", worker.name],
    ["version", worker.version ?? "none: no version is enabled"],
    ["state", worker.state],
    ["since", sinceText(context, worker)],
    ["reason", worker.reason],
    ["last error", lastErrorText(worker)],
    ["error time", lastError && timeText(context, lastError.at)],
    ["suspect", suspect && suspectText(context, suspect)],
    ["roll back", rollbackText(worker)],
    ...(worker.instances ?? []).map((instance) => [`on ${instance.name}`, instanceText(instance)] as const),
  ]);
  warnOfMissing(context.output, "states", worker.instances);
}

/** Returns the names of the daemons on which the worker has a problem. */
function troubledInstances({ instances = [] }: WorkerHealth): string[] {
  return instances.flatMap(({ name, reason }) => (reason === undefined ? [] : name));
}

/** Returns the state of the worker on one daemon, such as `2.0.0 failing: 50% of requests failed`. */
function instanceText({ version, state, reason }: NonNullable<WorkerHealth["instances"]>[number]): string {
  if (state === undefined) return "no response";
  return `${version ?? "-"} ${state}${reason === undefined ? "" : `: ${reason}`}`;
}

/** Returns the time at which the current state of the worker began, as text. If the exact time is unknown, the text contains "at least". */
function sinceText(context: Context, { since, isSinceStart }: WorkerHealth): string {
  const time = timeText(context, since);
  return isSinceStart === true ? `at least since the start of the daemon, ${time}` : time;
}

function severity({ state }: WorkerHealth): number {
  return workerStates.indexOf(state);
}

/** Returns message and position of the last error, such as `Error: no basket (index.js:3:11)`. */
function lastErrorText({ lastError }: WorkerHealth): string | undefined {
  if (!lastError) return undefined;
  const { message, file, line, column } = lastError;
  return file === undefined ? message : `${message} (${[file, line, column].join(":")})`;
}

function suspectText(context: Context, { version, installedAt, by }: NonNullable<WorkerHealth["suspect"]>): string {
  const installed = installedAt === undefined ? "" : `, installed ${timeText(context, installedAt)}`;
  return `version ${version}${installed}${by === undefined ? "" : ` by ${by}`}`;
}

/** Returns the command for a rollback if the worker has a problem and an earlier version exists. */
function rollbackText({ name, reason, rollbackTo }: WorkerHealth): string | undefined {
  return reason === undefined || rollbackTo === undefined ? undefined : `runtimectl workers rollback ${name} --to ${rollbackTo}`;
}

/** Formats a Unix time in seconds: the age on a terminal, an RFC 3339 time in a pipe. */
function timeText({ output: { isAligned } }: Context, at: number): string {
  return isAligned ? ago(at, Date.now()) : toDateTime(at);
}
