import { Cron } from "croner";
import { ApiError } from "../../shared/api-error.js";
import { listedRuns, type CronJob, type CronRun } from "../../shared/contract/cron.js";
import { toApiError } from "../web/error-response.js";
import type { CronRuns, JobHistory, RunStart } from "./cron-runs.js";
import { mergeRuns } from "./cron-slot-runs.js";
import { queueOf, type CronSlots, type SlotEnd, type SlotJob } from "./cron-slots.js";
import type { ServedVersion } from "./engine/version-handler.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

/**
 * Matches a schedule with five fields, with six fields (seconds first), or a macro such as `@daily`. The package croner would also accept a
 * date, which the daemon rejects.
 */
const schedulePattern = /^(?:@[a-z]+|\S+(?:\s+\S+){4,5})$/;

/**
 * Number of newest leases per job for a list without runs. The list shows only the current run and the last run, and skipped slots can
 * follow the last run.
 */
const leastListedRuns = 5;
const stillRunning = "The previous run has not finished.";

export interface CronCall {
  readonly name: string;
  readonly method: string;
  /** Request path below the worker's base path, including the query. */
  readonly target: string;
  readonly schedule: string;
}

/** The response to the request of a cron job. */
export interface CronResponse {
  /** HTTP status. 502 if the response ended before it was complete. */
  readonly status: number;
  /** The error that the daemon sent in place of a response of the worker. Undefined if the worker responded. */
  readonly error: ApiError | undefined;
}

interface Job {
  readonly version: ServedVersion;
  readonly entry: WorkerManifest["cron"][number];
  readonly cron: Cron;
  readonly history: JobHistory;
  /** The job in the leases that several daemons share. Undefined if this daemon runs the job at each time of the schedule. */
  readonly slot: SlotJob | undefined;
}

interface Plan {
  readonly version: ServedVersion;
  readonly jobs: readonly Job[];
}

export interface CronJobsOptions {
  /** Sends the request of a cron job to the worker. */
  readonly call: (call: CronCall) => Promise<CronResponse>;
  /** Writes a message to the worker's log. */
  readonly writeLog: (version: ServedVersion, level: "debug" | "warn", text: string) => void;
  readonly runs: CronRuns;
  /** Decides which of several daemons runs a job. Undefined if this daemon is the only one. */
  readonly slots?: CronSlots | undefined;
  /** Returns Unix time in seconds. */
  readonly now: () => number;
}

/** Cron jobs of all workers. Only the jobs of active versions run. All times are UTC. */
export class CronJobs {
  readonly #options: CronJobsOptions;
  readonly #plans = new Map<string, Plan>();
  #isStarted = false;

  constructor(options: CronJobsOptions) {
    this.#options = options;
  }

  /**
   * Schedules the jobs of `version`, the new active version of the worker `name`. If `version` is undefined, stops all jobs of the worker.
   */
  plan(name: string, version: ServedVersion | undefined): void {
    const { slots } = this.#options;
    const current = this.#plans.get(name);
    if (current && current.version === version) return;
    for (const { cron } of current?.jobs ?? []) cron.stop();
    this.#plans.delete(name);
    this.#schedule(name, version, current);
    const watched = new Set(this.#plans.get(name)?.jobs.map(({ slot }) => slot?.queue));
    for (const { slot } of current?.jobs ?? []) if (slot && !watched.has(slot.queue)) slots?.unwatch(slot.queue);
  }

  #schedule(name: string, version: ServedVersion | undefined, current: Plan | undefined): void {
    const { writeLog, runs } = this.#options;
    if (current && !version) writeLog(current.version, "warn", `Cron jobs stopped: ${name} has no active version.`);
    if (!version || version.manifest.cron.length === 0) return;
    const refusal = cronRefusal(version.manifest);
    if (refusal !== undefined) return writeLog(version, "warn", `${refusal} No cron job of this version runs.`);
    const keys = jobKeys(version.manifest.cron);
    runs.keep(name, new Set(keys));
    const jobs = version.manifest.cron.map((entry, index) => this.#start(version, entry, keys[index] as string));
    this.#plans.set(name, { version, jobs });
  }

  /**
   * Returns the jobs of the active versions of matching workers, sorted by worker name and index. If `withRuns` is true, also returns the
   * last runs of each job.
   */
  async list(isWanted: (name: string) => boolean, { withRuns }: { withRuns: boolean }): Promise<CronJob[]> {
    const plans = [...this.#plans].filter(([name]) => isWanted(name)).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const queues = plans.flatMap(([, { jobs }]) => jobs.flatMap(({ slot }) => slot?.queue ?? []));
    const leases = await this.#options.slots
      ?.list(queues, withRuns ? listedRuns : leastListedRuns)
      .catch((error: unknown) => toApiError(error));
    return plans.flatMap(([worker, { version, jobs }]) =>
      jobs.map(({ entry, cron, history, slot }, index) => {
        const isShared = slot !== undefined && leases instanceof Map;
        const { runs, isRunning } = isShared ? mergeRuns(leases.get(slot.queue) ?? [], history) : history;
        return {
          worker,
          version: version.version,
          index,
          ...entry,
          nextRun: toSeconds(cron.nextRun()),
          isRunning,
          lastRun: runs.find(({ outcome }) => outcome !== "skipped") ?? null,
          ...(withRuns && { runs: runs.slice(0, listedRuns) }),
          ...(slot && leases instanceof ApiError && { problem: `The list has only the runs of this daemon. ${leases.message}` }),
        };
      }),
    );
  }

  /**
   * If the last run of one of the worker's cron jobs failed, returns one sentence about this job. Otherwise returns undefined. Runs of other
   * versions do not count, so that a rollback ends the problem.
   */
  failureOf(name: string): string | undefined {
    const { version: active, jobs } = this.#plans.get(name) ?? { jobs: [] };
    const failed = jobs.find(
      ({ history: { lastRun } }) => lastRun?.outcome === "failed" && (lastRun.version ?? active?.version) === active?.version,
    );
    const run = failed?.history.lastRun;
    return (
      failed && run && `The cron job ${titleOf(failed)} failed: ${run.error ?? `it returned status ${run.status}`}`.replace(/\.?$/, ".")
    );
  }

  /** Runs a job now. Resolves when the run has ended. Throws CRON_JOB_NOT_FOUND or CRON_JOB_RUNNING. */
  async run(name: string, index: number, by: string): Promise<CronRun> {
    const job = this.#plans.get(name)?.jobs[index];
    if (!job) {
      const hint = "List the jobs with runtimectl cron list.";
      throw new ApiError("CRON_JOB_NOT_FOUND", `The active version of ${name} has no cron job ${index}. ${hint}`);
    }
    if (job.history.isRunning)
      throw new ApiError(
        "CRON_JOB_RUNNING",
        `The cron job ${titleOf(job)} of ${name} is already running on this daemon. Wait until the run has ended.`,
      );
    return this.#run(job, { trigger: "manual", by });
  }

  /** Discards the runs of a deleted worker in the history of this daemon and in the leases that daemons share. */
  forget(name: string): void {
    const { runs, slots } = this.#options;
    runs.forget(name);
    slots?.forget(name);
  }

  /** Starts the schedules. Call it when the daemon can serve workers. Does not run jobs for earlier times. */
  start(): void {
    this.#isStarted = true;
    for (const { jobs } of this.#plans.values()) for (const { cron } of jobs) cron.resume();
  }

  /** Stops all schedules. Running jobs continue. */
  close(): void {
    for (const { jobs } of this.#plans.values()) for (const { cron } of jobs) cron.stop();
    this.#plans.clear();
  }

  #start(version: ServedVersion, entry: Job["entry"], key: string): Job {
    const { runs, slots } = this.#options;
    const { name: worker, version: number } = version;
    const cron: Cron = new Cron(entry.schedule, { timezone: "UTC", unref: true, paused: !this.#isStarted }, () => this.#runScheduled(job));
    const { schedule } = entry;
    const slot = slots && entry.on === "one" ? { queue: queueOf(worker, key), worker, version: number, schedule, cron } : undefined;
    const job: Job = { version, entry, cron, history: runs.historyOf(worker, key), slot };
    if (slot) slots?.watch(slot);
    return job;
  }

  #runScheduled(job: Job): void {
    const { slots } = this.#options;
    if (slots && job.slot) return void this.#runInSlot(slots, job, job.slot, latestTimeMs(job.cron));
    if (!job.history.isRunning) return void this.#run(job, { trigger: "schedule" });
    this.#logSkipped(job);
    const start = { at: this.#options.now(), trigger: "schedule", version: job.version.version } as const;
    job.history.skip(start, stillRunning);
  }

  async #runInSlot(slots: CronSlots, job: Job, slot: SlotJob, slotMs: number): Promise<void> {
    const work = async (): Promise<SlotEnd> => {
      if (job.history.isRunning) {
        this.#logSkipped(job);
        return { state: "skipped", result: { error: stillRunning } };
      }
      const { trigger: _schedule, ...result } = await this.#run(job, { trigger: "schedule" });
      return { state: "ran", result };
    };
    await slots.run(slot, slotMs, { work, onBlocked: () => this.#logSkipped(job) });
  }

  #logSkipped(job: Job): void {
    this.#options.writeLog(job.version, "warn", `Cron ${titleOf(job)} was skipped: its previous run has not finished.`);
  }

  async #run(job: Job, cause: Pick<RunStart, "trigger" | "by">): Promise<CronRun> {
    const { call, writeLog, now } = this.#options;
    const { version, entry, history } = job;
    const startedMs = performance.now();
    const { stored, end } = history.begin({ at: now(), ...cause, version: version.version });
    const { schedule, method, endpoint: target } = entry;
    // Waits until the start is in the file. If the daemon then stops during the run, the list contains the interrupted run after the
    // restart.
    await stored;
    const { status, error } = await call({ name: version.name, method, target, schedule }).catch((thrown: unknown) => {
      writeLog(version, "warn", `Cron ${titleOf(job)} failed: ${String(thrown)}`);
      return { status: 500, error: toApiError(thrown) };
    });
    const isOk = status < 400;
    writeLog(version, isOk ? "debug" : "warn", `Cron ${titleOf(job)} returned status ${status}.`);
    return end({
      durationMs: Math.round(performance.now() - startedMs),
      status,
      outcome: isOk ? "ok" : "failed",
      ...(!isOk && { error: error?.message ?? `The worker responded with status ${status}.` }),
    });
  }
}

/** Returns the newest time of the schedule that is not in the future, in Unix milliseconds. A busy daemon can have missed earlier times. */
function latestTimeMs(cron: Cron): number {
  const now = Date.now();
  // The times that croner returns are before the reference.
  const [latest] = cron.previousRuns(1, new Date(now + 1));
  return latest?.getTime() ?? now;
}

function titleOf({ entry: { schedule, method, endpoint } }: Job): string {
  return `${schedule} ${method} ${endpoint}`;
}

/**
 * Returns the text that identifies each job in all versions of a worker, such as `GET /report`. A job keeps its runs if its schedule or
 * position changes. Further jobs with the same method and path get a number.
 */
function jobKeys(entries: WorkerManifest["cron"]): string[] {
  const counts = new Map<string, number>();
  return entries.map(({ method, endpoint }) => {
    const key = `${method} ${endpoint}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

function toSeconds(time: Date | null): number | null {
  return time && Math.floor(time.getTime() / 1000);
}

/** Returns the reason why a cron schedule is invalid. Returns undefined for a valid schedule. */
function scheduleFault(schedule: string): string | undefined {
  if (!schedulePattern.test(schedule.trim())) return "write five fields, such as */5 * * * *, or six fields with seconds first";
  try {
    return new Cron(schedule, { timezone: "UTC", paused: true }).nextRun() ? undefined : "the schedule never matches a time";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns a message about the first invalid entry in `cron` of a manifest. Returns undefined if all entries are valid. */
export function cronRefusal({ cron }: Pick<WorkerManifest, "cron">): string | undefined {
  for (const [index, { schedule, endpoint }] of cron.entries()) {
    const fault = scheduleFault(schedule);
    if (fault !== undefined) return `The manifest has an invalid cron.${index}.schedule ${JSON.stringify(schedule)}: ${fault}.`;
    if (!endpoint.startsWith("/"))
      return `The manifest has an invalid cron.${index}.endpoint ${JSON.stringify(endpoint)}: it must begin with a slash.`;
  }
  return undefined;
}
