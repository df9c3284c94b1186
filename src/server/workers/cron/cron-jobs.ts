import { Cron } from "croner";
import type { ServedVersion } from "../engine/served-version.js";
import { cronRefusal } from "./cron-schedule.js";

export interface CronCall {
  readonly name: string;
  readonly method: string;
  /** Path below the worker's base, with a query. */
  readonly target: string;
  readonly schedule: string;
}

interface Plan {
  readonly version: ServedVersion;
  readonly jobs: readonly Cron[];
}

/** The jobs of all workers: of each name only those of the version that answers for it. All times are UTC. */
export class CronJobs {
  /** Calls the worker; resolves with the status of its answer. */
  readonly #call: (call: CronCall) => Promise<number>;
  /** Writes to the worker's log. */
  readonly #tell: (version: ServedVersion, level: "debug" | "warn", text: string) => void;
  readonly #plans = new Map<string, Plan>();

  constructor(options: {
    call: (call: CronCall) => Promise<number>;
    tell: (version: ServedVersion, level: "debug" | "warn", text: string) => void;
  }) {
    this.#call = options.call;
    this.#tell = options.tell;
  }

  /** From now on `version` answers for the name, or nothing does. */
  plan(name: string, version: ServedVersion | undefined): void {
    const current = this.#plans.get(name);
    if (current && current.version === version) return;
    for (const job of current?.jobs ?? []) job.stop();
    this.#plans.delete(name);
    if (current && !version) this.#tell(current.version, "warn", `Its jobs stop: no version answers for ${name}.`);
    if (!version || version.manifest.cron.length === 0) return;
    const refusal = cronRefusal(version.manifest);
    if (refusal !== undefined) return this.#tell(version, "warn", `${refusal} None of its jobs runs.`);
    this.#plans.set(name, { version, jobs: version.manifest.cron.map((entry) => this.#start(version, entry)) });
  }

  close(): void {
    for (const { jobs } of this.#plans.values()) for (const job of jobs) job.stop();
    this.#plans.clear();
  }

  #start(version: ServedVersion, entry: ServedVersion["manifest"]["cron"][number]): Cron {
    const { schedule, method, endpoint } = entry;
    const title = `${schedule} ${method} ${endpoint}`;
    const skip = (): void => this.#tell(version, "warn", `Cron ${title} was skipped: its last run is not over.`);
    const fail = (error: unknown): void => this.#tell(version, "warn", `Cron ${title} failed: ${String(error)}`);
    return new Cron(schedule, { timezone: "UTC", unref: true, protect: skip, catch: fail }, async () => {
      const status = await this.#call({ name: version.name, method, target: endpoint, schedule });
      this.#tell(version, status < 400 ? "debug" : "warn", `Cron ${title} was answered with ${status}.`);
    });
  }
}
