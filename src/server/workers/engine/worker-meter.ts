import type { ErrorCode } from "../../../shared/errors.js";
import { LatencyHistogram } from "./latency-histogram.js";

/** What is counted about one version of a worker. Everything on the path of a request is a plain number. */
export class WorkerMeter {
  readonly name: string;
  /** Undefined for requests to a worker of which no version answers. */
  readonly version: string | undefined;
  readonly latency = new LatencyHistogram(performance.now());
  /** Requests that began; those that ended are in the counts by status. */
  beganCount = 0;
  requestBodyBytes = 0;
  responseBodyBytes = 0;
  /** By first digit of the status; 0 = the client left before there was one. */
  readonly #statusCounts = new Float64Array(6);
  readonly #errors = new Map<ErrorCode, number>();

  constructor(name: string, version: string | undefined) {
    this.name = name;
    this.version = version;
  }

  /**
   * Counts the end of a request that began; `status` is 0 when its client left before it had one. `isBrokenOff`: the response began
   * and never ended, by no fault of the client.
   */
  note(status: number, durationMs: number, nowMs: number, isBrokenOff = false): void {
    (this.#statusCounts[(status / 100) | 0] as number) += 1;
    this.latency.record(durationMs, nowMs, isBrokenOff || status >= 500);
  }

  /** Notes why a request failed, besides its end. */
  noteError(code: ErrorCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  /** Notes a request that is refused on the spot. */
  noteRefusal(status: number, code: ErrorCode): void {
    this.beganCount += 1;
    this.noteError(code);
    this.note(status, 0, performance.now());
  }

  get endedCount(): number {
    return this.#statusCounts.reduce((sum, count) => sum + count, 0);
  }

  get inFlightCount(): number {
    return this.beganCount - this.endedCount;
  }

  /** Requests that ended with a status of this first digit; 0 = the client left before there was one. */
  countOf(digit: 0 | 1 | 2 | 3 | 4 | 5): number {
    return this.#statusCounts[digit] as number;
  }

  get errors(): ReadonlyMap<ErrorCode, number> {
    return this.#errors;
  }
}

/** The meters of all workers that were asked for something; one that never was costs nothing. */
export class WorkerMeters {
  readonly #meters = new Map<string, WorkerMeter>();
  /** Requests whose path means no installed worker. */
  unknownPathCount = 0;

  /** The meter of a version; without one, of requests to a worker of which no version answers. */
  of(name: string, version?: string): WorkerMeter {
    const key = `${name}\0${version ?? ""}`;
    let meter = this.#meters.get(key);
    if (!meter) {
      meter = new WorkerMeter(name, version);
      this.#meters.set(key, meter);
    }
    return meter;
  }

  /** Forgets what is not installed any more. */
  prune(isInstalled: (name: string, version: string | undefined) => boolean): void {
    for (const [key, { name, version }] of this.#meters) if (!isInstalled(name, version)) this.#meters.delete(key);
  }

  /** By name. */
  [Symbol.iterator](): Iterator<WorkerMeter> {
    return this.#meters.values();
  }
}

/** What runs of an app at this moment. A static site has no isolates. */
export interface AppLife {
  readonly kind: "static" | "module";
  /** Isolates that take requests, that are started, and that finish what they have. */
  readonly running: number;
  readonly starting: number;
  readonly draining: number;
  /** Requests that wait for an isolate. */
  readonly queued: number;
  /** Web sockets that are open. */
  readonly openSockets: number;
  /** Process ids of the isolates that have the app. */
  readonly pids: readonly number[];
}

/** A worker's version in numbers; `life` is undefined when nothing of it was ever opened. */
export interface WorkerNumbers {
  readonly meter: WorkerMeter;
  readonly life: AppLife | undefined;
}

/** A version and what still drains of the code that it replaced, as one. */
export function lifeOf(apps: readonly { readonly life: AppLife }[]): AppLife | undefined {
  const lives = apps.map(({ life }) => life);
  const [first, ...others] = lives;
  return first && others.reduce(together, first);
}

function together(one: AppLife, other: AppLife): AppLife {
  return {
    kind: one.kind,
    running: one.running + other.running,
    starting: one.starting + other.starting,
    draining: one.draining + other.draining,
    queued: one.queued + other.queued,
    openSockets: one.openSockets + other.openSockets,
    pids: [...one.pids, ...other.pids],
  };
}
