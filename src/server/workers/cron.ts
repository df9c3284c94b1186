import { Cron } from "croner";
import type { ServedVersion } from "./engine/version-handler.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** Five fields, six with seconds in front, or a word such as `@daily`; croner alone would also take dates. */
const schedulePattern = /^(?:@[a-z]+|\S+(?:\s+\S+){4,5})$/;

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

/** Why a schedule cannot be used; undefined when it can. */
function scheduleFault(schedule: string): string | undefined {
  if (!schedulePattern.test(schedule.trim())) return "write five fields, such as */5 * * * *, or six with seconds in front";
  try {
    return new Cron(schedule, { timezone: "UTC", paused: true }).nextRun() ? undefined : "it is never due";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Which entry of `cron` cannot be used and why; undefined when all can. */
export function cronRefusal({ cron }: Pick<WorkerManifest, "cron">): string | undefined {
  for (const [index, { schedule, endpoint }] of cron.entries()) {
    const fault = scheduleFault(schedule);
    if (fault !== undefined) return `Its manifest's cron.${index}.schedule ${JSON.stringify(schedule)} cannot be used: ${fault}.`;
    if (!endpoint.startsWith("/")) return `Its manifest's cron.${index}.endpoint ${JSON.stringify(endpoint)} does not begin with a slash.`;
  }
  return undefined;
}

/** A request of the runtime's own and the answer to it, made of the objects that a client's would be made of, without a connection. */
interface InternalExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves with the status when the answer is complete or broken off; 502 stands for the latter. */
  readonly answered: Promise<number>;
}

export function createInternalExchange(method: string): InternalExchange {
  // What is answered is for nobody: only the status counts.
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const request = new IncomingMessage(socket as Socket);
  request.method = method;
  request.complete = true;
  request.push(null);
  const response = new ServerResponse(request);
  response.assignSocket(socket as Socket);
  const answered = new Promise<number>((resolve) => {
    response.once("finish", () => {
      resolve(response.statusCode);
      response.emit("close");
      socket.destroy();
    });
    response.once("close", () => resolve(502));
  });
  return { request, response, answered };
}
