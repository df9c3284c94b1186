import type { ErrorCode } from "../../../shared/errors.js";
import { LatencyHistogram } from "./latency-histogram.js";

/** Counters of one version of a worker. Counters on the request path are plain numbers. */
export class WorkerMeter {
  readonly name: string;
  /** Undefined for requests to a worker without an active version. */
  readonly version: string | undefined;
  readonly latency = new LatencyHistogram(performance.now());
  /** Requests that began; the counts by status hold those that ended. */
  beganCount = 0;
  requestBodyBytes = 0;
  responseBodyBytes = 0;
  /** By first digit of the status; 0 = the client disconnected before there was a status. */
  readonly #statusCounts = new Float64Array(6);
  readonly #errors = new Map<ErrorCode, number>();

  constructor(name: string, version: string | undefined) {
    this.name = name;
    this.version = version;
  }

  /**
   * Counts the end of a request. `status` is 0 when the client disconnected before there was one. `isBrokenOff`: the response was cut off,
   * and not by the client.
   */
  note(status: number, durationMs: number, nowMs: number, isBrokenOff = false): void {
    (this.#statusCounts[(status / 100) | 0] as number) += 1;
    this.latency.record(durationMs, nowMs, isBrokenOff || status >= 500);
  }

  /** Counts the error code of a failed request, in addition to its end. */
  noteError(code: ErrorCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  /** Counts a request that is rejected immediately. */
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

  /** Requests that ended with a status of this first digit; 0 = the client disconnected before there was a status. */
  countOf(digit: 0 | 1 | 2 | 3 | 4 | 5): number {
    return this.#statusCounts[digit] as number;
  }

  get errors(): ReadonlyMap<ErrorCode, number> {
    return this.#errors;
  }
}

/** Meters of all workers that have received a request; the others have no meter. */
export class WorkerMeters {
  readonly #meters = new Map<string, WorkerMeter>();
  /** Requests whose path addresses no installed worker. */
  unknownPathCount = 0;

  /** Returns the meter of a version. Without `version`: the meter of requests to a worker without an active version. */
  of(name: string, version?: string): WorkerMeter {
    const key = `${name}\0${version ?? ""}`;
    let meter = this.#meters.get(key);
    if (!meter) {
      meter = new WorkerMeter(name, version);
      this.#meters.set(key, meter);
    }
    return meter;
  }

  /** Deletes the meters of versions that are no longer installed. */
  prune(isInstalled: (name: string, version: string | undefined) => boolean): void {
    for (const [key, { name, version }] of this.#meters) if (!isInstalled(name, version)) this.#meters.delete(key);
  }

  [Symbol.iterator](): Iterator<WorkerMeter> {
    return this.#meters.values();
  }
}

/** Current processes, requests and sockets of a worker. A static site has no isolates. */
export interface AppLife {
  readonly kind: "static" | "module";
  /** Isolates that accept requests (`running`), are starting (`starting`), or finish their last requests (`draining`). */
  readonly running: number;
  readonly starting: number;
  readonly draining: number;
  /** Queued requests that wait for an isolate. */
  readonly queued: number;
  /** Open WebSockets. */
  readonly openSockets: number;
  /** Process ids of the isolates that have loaded the worker. */
  readonly pids: readonly number[];
}

/** Metrics of a worker version; `life` is undefined when the version was never opened. */
export interface WorkerNumbers {
  readonly meter: WorkerMeter;
  readonly life: AppLife | undefined;
}

/** Sums the values of a version and of the replaced code that still drains. */
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
