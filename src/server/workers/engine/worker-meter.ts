import type { ErrorCode } from "../../../shared/errors.js";
import { LatencyHistogram } from "./latency-histogram.js";

/** Counters of one version of a worker. */
export class WorkerMeter {
  readonly name: string;
  /** Installed version of the worker. Undefined for requests that arrived while the worker had no active version. */
  readonly version: string | undefined;
  readonly latency = new LatencyHistogram(performance.now());
  /** Number of begun requests. The counts by status contain only completed requests. */
  beganCount = 0;
  /** Number of requests for which the daemon is reading a static file from the disk. `beganCount` does not include these requests yet. */
  readingCount = 0;
  requestBodyBytes = 0;
  responseBodyBytes = 0;
  /** Number of completed requests, by the first digit of the status. Index 0 is for clients that disconnected before the response. */
  readonly #statusCounts = new Float64Array(6);
  readonly #errors = new Map<ErrorCode, number>();

  constructor(name: string, version: string | undefined) {
    this.name = name;
    this.version = version;
  }

  /**
   * Counts a completed request. `status` is 0 if the client disconnected before the response. `isBrokenOff` is true if the response ended
   * early for another reason.
   */
  note(status: number, durationMs: number, nowMs: number, isBrokenOff = false): void {
    (this.#statusCounts[(status / 100) | 0] as number) += 1;
    this.latency.record(durationMs, nowMs, isBrokenOff || status >= 500);
  }

  /** Counts the error code of a failed request, in addition to `note`. */
  noteError(code: ErrorCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  /** Counts a request that the daemon rejects immediately. */
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

  /** Returns the number of requests whose status has this first digit. 0 stands for clients that disconnected before the response. */
  countOf(digit: 0 | 1 | 2 | 3 | 4 | 5): number {
    return this.#statusCounts[digit] as number;
  }

  get errors(): ReadonlyMap<ErrorCode, number> {
    return this.#errors;
  }
}

/** The counters of all workers that have received a request. */
export class WorkerMeters {
  readonly #meters = new Map<string, WorkerMeter>();
  /** Number of requests whose path matches no installed worker. */
  unknownPathCount = 0;

  /** Returns the counters of a version. Without `version`, returns the counters for the time when the worker has no active version. */
  of(name: string, version?: string): WorkerMeter {
    const key = `${name}\0${version ?? ""}`;
    let meter = this.#meters.get(key);
    if (!meter) {
      meter = new WorkerMeter(name, version);
      this.#meters.set(key, meter);
    }
    return meter;
  }

  /** Returns the counters of a version. Returns undefined if the version has received no request. */
  find(name: string, version: string): WorkerMeter | undefined {
    return this.#meters.get(`${name}\0${version}`);
  }

  /** Deletes the counters of versions that are no longer installed. */
  prune(isInstalled: (name: string, version: string | undefined) => boolean): void {
    for (const [key, { name, version }] of this.#meters) if (!isInstalled(name, version)) this.#meters.delete(key);
  }

  [Symbol.iterator](): Iterator<WorkerMeter> {
    return this.#meters.values();
  }
}

/** Numbers of the isolates, queued requests and WebSockets of a worker. For a static site, all are 0. */
export interface VersionLoad {
  readonly kind: "static" | "module";
  /**
   * Number of isolates that accept requests. `starting` isolates accept no requests yet. `draining` isolates complete their last requests.
   */
  readonly running: number;
  readonly starting: number;
  readonly draining: number;
  /** Number of requests that wait for an isolate. */
  readonly queued: number;
  /** Number of open WebSockets. */
  readonly openSockets: number;
  /** Process ids of the isolates that have loaded the worker. */
  readonly pids: readonly number[];
  /** Memory limit of one isolate in bytes. Undefined for a static site. */
  readonly memoryLimitBytes?: number | undefined;
}

/** Metrics of a worker version. `currentLoad` is undefined if the version was never opened. */
export interface WorkerNumbers {
  readonly meter: WorkerMeter;
  readonly currentLoad: VersionLoad | undefined;
}

/** Adds up the load of a version and of the replaced versions whose isolates still complete calls. */
export function totalLoad(apps: readonly { readonly currentLoad: VersionLoad }[]): VersionLoad | undefined {
  const loads = apps.map(({ currentLoad }) => currentLoad);
  const [first, ...others] = loads;
  return first && others.reduce(together, first);
}

function together(one: VersionLoad, other: VersionLoad): VersionLoad {
  return {
    kind: one.kind,
    running: one.running + other.running,
    starting: one.starting + other.starting,
    draining: one.draining + other.draining,
    queued: one.queued + other.queued,
    openSockets: one.openSockets + other.openSockets,
    pids: [...one.pids, ...other.pids],
    memoryLimitBytes: one.memoryLimitBytes,
  };
}
