import { Cron } from "croner";
import type { ServedVersion } from "./engine/version-handler.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

/**
 * Matches a schedule with five fields, with six fields (seconds first), or a macro such as `@daily`. The package croner alone would also
 * accept dates.
 */
const schedulePattern = /^(?:@[a-z]+|\S+(?:\s+\S+){4,5})$/;

export interface CronCall {
  readonly name: string;
  readonly method: string;
  /** Request path below the worker's base path, including the query. */
  readonly target: string;
  readonly schedule: string;
}

interface Plan {
  readonly version: ServedVersion;
  readonly jobs: readonly Cron[];
}

/** Cron jobs of all workers. For each worker name, only the jobs of the active version run. All times are UTC. */
export class CronJobs {
  /** Sends the request to the worker; resolves with the response status. */
  readonly #call: (call: CronCall) => Promise<number>;
  /** Writes a message to the worker's log. */
  readonly #tell: (version: ServedVersion, level: "debug" | "warn", text: string) => void;
  readonly #plans = new Map<string, Plan>();

  constructor(options: {
    call: (call: CronCall) => Promise<number>;
    tell: (version: ServedVersion, level: "debug" | "warn", text: string) => void;
  }) {
    this.#call = options.call;
    this.#tell = options.tell;
  }

  /** Schedules the jobs of `version`, the new active version of `name`. Without a version, stops all jobs of `name`. */
  plan(name: string, version: ServedVersion | undefined): void {
    const current = this.#plans.get(name);
    if (current && current.version === version) return;
    for (const job of current?.jobs ?? []) job.stop();
    this.#plans.delete(name);
    if (current && !version) this.#tell(current.version, "warn", `Cron jobs stopped: ${name} has no active version.`);
    if (!version || version.manifest.cron.length === 0) return;
    const refusal = cronRefusal(version.manifest);
    if (refusal !== undefined) return this.#tell(version, "warn", `${refusal} No cron job of this version runs.`);
    this.#plans.set(name, { version, jobs: version.manifest.cron.map((entry) => this.#start(version, entry)) });
  }

  close(): void {
    for (const { jobs } of this.#plans.values()) for (const job of jobs) job.stop();
    this.#plans.clear();
  }

  #start(version: ServedVersion, entry: ServedVersion["manifest"]["cron"][number]): Cron {
    const { schedule, method, endpoint } = entry;
    const title = `${schedule} ${method} ${endpoint}`;
    const skip = (): void => this.#tell(version, "warn", `Cron ${title} was skipped: its previous run has not finished.`);
    const fail = (error: unknown): void => this.#tell(version, "warn", `Cron ${title} failed: ${String(error)}`);
    return new Cron(schedule, { timezone: "UTC", unref: true, protect: skip, catch: fail }, async () => {
      const status = await this.#call({ name: version.name, method, target: endpoint, schedule });
      this.#tell(version, status < 400 ? "debug" : "warn", `Cron ${title} returned status ${status}.`);
    });
  }
}

/** Returns the reason why a cron schedule is invalid; undefined when the schedule is valid. */
function scheduleFault(schedule: string): string | undefined {
  if (!schedulePattern.test(schedule.trim())) return "write five fields, such as */5 * * * *, or six fields with seconds first";
  try {
    return new Cron(schedule, { timezone: "UTC", paused: true }).nextRun() ? undefined : "the schedule never matches a time";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns a message about the first invalid entry of the manifest's `cron`; undefined when all entries are valid. */
export function cronRefusal({ cron }: Pick<WorkerManifest, "cron">): string | undefined {
  for (const [index, { schedule, endpoint }] of cron.entries()) {
    const fault = scheduleFault(schedule);
    if (fault !== undefined) return `The manifest has an invalid cron.${index}.schedule ${JSON.stringify(schedule)}: ${fault}.`;
    if (!endpoint.startsWith("/"))
      return `The manifest has an invalid cron.${index}.endpoint ${JSON.stringify(endpoint)}: it must begin with a slash.`;
  }
  return undefined;
}
