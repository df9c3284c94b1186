import { ApiError } from "../../shared/api-error.js";
import type { ClientOf } from "../../shared/client.js";
import { list, listedRuns, type CronJob, type CronRun } from "../../shared/contract/cron.js";
import { namespacesCover } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import type { ResourceHandlers } from "../http/handler.js";
import { asksOthers, collectResponses, type KnownInstances, type ListedResponse } from "../instances/ask-others.js";

/** The functions of the cron jobs that these handlers use. */
interface CronJobsPort {
  list(isWanted: (name: string) => boolean, options: { withRuns: boolean }): Promise<CronJob[]>;
  run(name: string, index: number, by: string): Promise<CronRun>;
}

export function createCronHandlers({
  cronJobs,
  instances,
  isInstalled,
}: {
  cronJobs: CronJobsPort;
  instances: KnownInstances;
  isInstalled: (name: string) => boolean;
}): ResourceHandlers<"cron"> {
  return {
    list: async ({ query: { worker, instance }, principal: { namespaces }, key }) => {
      const isWanted = (name: string) => (worker === undefined || worker === name) && namespacesCover(namespaces, name);
      const readOwn = () => cronJobs.list(isWanted, { withRuns: worker !== undefined });
      if (!asksOthers(instances, instance)) return readOwn();
      const call = async ({ cron }: ClientOf<typeof offered>) =>
        (await cron.list({ query: { worker, instance: "self" } })).filter((job) => isWanted(job.worker));
      return mergeJobs(await collectResponses(instances, instance, { request: { key, offered, call }, readOwn }));
    },
    run: async ({ params, principal }) => {
      const name = fromPathSegments(params);
      if (!isInstalled(name)) throw new ApiError("WORKER_NOT_FOUND", `No worker ${name} is installed.`);
      return { success: true, data: await cronJobs.run(name, params.index, principal.name) };
    },
  };
}

const offered = { cron: { list } };

/** Returns each job once, with the runs of all daemons on which the worker has the same active version as on the first daemon. */
function mergeJobs(responses: readonly ListedResponse<readonly CronJob[]>[]): CronJob[] {
  const missing = responses.flatMap(({ instance: { name }, response }) =>
    "problem" in response ? `The runs of ${name} are missing. ${response.problem}` : [],
  );
  const found = responses.flatMap(({ instance, response }) =>
    "result" in response ? response.result.map((job) => namedRuns(job, instance.name)) : [],
  );
  const jobs = Map.groupBy(found, ({ worker, index }) => `${worker} ${String(index).padStart(6, "0")}`);
  return [...jobs].toSorted(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, same]) => mergeJob(same, missing));
}

function mergeJob(found: readonly CronJob[], missing: readonly string[]): CronJob[] {
  const [first] = found;
  if (!first) return [];
  const same = found.filter(({ version }) => version === first.version);
  // Adds each run once, because all daemons report the runs that are recorded in leases. Uses at most `listedRuns` runs of each daemon.
  const runs: CronRun[] = [];
  const seen = new Set<string>();
  for (const { runs: ofDaemon = [] } of same) {
    const added = ofDaemon.slice(0, listedRuns).filter((run) => !seen.has(runKey(run)));
    for (const run of added) seen.add(runKey(run));
    runs.push(...added);
  }
  // Reports missing runs only for `on: every`. The runs of a job with `on: one` are recorded in leases, which this daemon reads without the
  // other daemons.
  const problem = first.problem ?? (missing.length > 0 && first.on === "every" ? missing.join(" ") : undefined);
  return [
    {
      ...first,
      isRunning: same.some(({ isRunning }) => isRunning),
      lastRun: newestFirst(same.flatMap(({ lastRun }) => lastRun ?? []))[0] ?? null,
      ...(first.runs && { runs: newestFirst(runs).slice(0, listedRuns) }),
      ...(problem !== undefined && { problem }),
    },
  ];
}

/**
 * Adds the name of the daemon to runs that contain no name, because only this daemon has recorded them: manual runs, and runs of jobs with
 * `on: every`.
 */
function namedRuns({ lastRun, runs, ...job }: CronJob, instance: string): CronJob {
  const name = (run: CronRun): CronRun => ({ instance, ...run });
  return { ...job, lastRun: lastRun && name(lastRun), ...(runs && { runs: runs.map(name) }) };
}

function runKey({ at, trigger, instance }: CronRun): string {
  return `${at} ${trigger} ${instance}`;
}

function newestFirst(runs: readonly CronRun[]): CronRun[] {
  return runs.toSorted((one, other) => other.at - one.at);
}
