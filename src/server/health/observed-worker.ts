import { leastLatencyRequests } from "./assess-worker.js";
import { LoggedErrors } from "./logged-errors.js";
import { RequestWindow, type RequestCounters } from "./request-window.js";

/** Statistics of the durations of requests. Percentiles are undefined when `count` is 0. */
interface Latency {
  readonly count: number;
  readonly p99Ms: number | undefined;
}

/** Counters and durations of the requests of a worker version. */
export interface ObservedMeter extends RequestCounters {
  readonly latency: RequestCounters["latency"] & { recent(nowMs: number): Latency; sinceStart(): Latency };
}

/** The active version of a worker. `installation` is the record of its upload, with the time in Unix seconds. */
export interface ActiveVersion {
  readonly name: string;
  readonly version: string;
  readonly installation?: { readonly at: number; readonly by: string };
  readonly problem?: string;
}

/** What the monitor knows about one active version. Times are on the clock of `performance.now()`, in milliseconds. */
export class ObservedVersion {
  readonly active: ActiveVersion;
  /** Unix time in milliseconds at which the version became active. */
  readonly activeSinceMs: number;
  readonly errors = new LoggedErrors();
  /** p99 of the version before, in milliseconds. Undefined if it received fewer than `leastLatencyRequests` requests. */
  readonly beforeP99Ms: number | undefined;
  readonly #window: RequestWindow;
  #startFailure: string | undefined;
  /** The last repeated crash, with its time and the end of the restart delay. */
  #crash: { readonly atMs: number; readonly restUntilMs: number } | undefined;

  constructor(options: {
    active: ActiveVersion;
    activeSinceMs: number;
    meter: ObservedMeter | undefined;
    beforeP99Ms: number | undefined;
    nowMs: number;
  }) {
    this.active = options.active;
    this.activeSinceMs = options.activeSinceMs;
    this.beforeP99Ms = options.beforeP99Ms;
    this.#window = new RequestWindow(options.meter, options.nowMs);
  }

  /** Reads the counters. A request that has succeeded since the last call ends the effect of failed starts and crashes. */
  update(meter: ObservedMeter | undefined, nowMs: number): void {
    if (!meter || !this.#window.update(meter, nowMs)) return;
    this.#startFailure = undefined;
    if (this.#crash && this.#crash.restUntilMs <= nowMs) this.#crash = undefined;
  }

  noteStartFailure(message: string): void {
    this.#startFailure = message;
  }

  noteRepeatedCrash(restMs: number, nowMs: number): void {
    this.#crash = { atMs: nowMs, restUntilMs: nowMs + restMs };
  }

  /** Returns what `assessWorker` needs about the version. */
  observe(meter: ObservedMeter | undefined, nowMs: number) {
    return {
      version: this.active,
      startFailure: this.#startFailure,
      crash: this.#crash && { ageMs: nowMs - this.#crash.atMs, restMs: Math.max(0, this.#crash.restUntilMs - nowMs) },
      recent: this.#window.recent,
      inFlightCount: meter?.inFlightCount ?? 0,
      latency: this.#latency(meter, nowMs),
    };
  }

  #latency(meter: ObservedMeter | undefined, nowMs: number): { p99Ms: number; beforeMs: number } | undefined {
    if (this.beforeP99Ms === undefined || this.#window.recent.requests === 0) return undefined;
    const p99Ms = p99Of(meter?.latency.recent(nowMs));
    return p99Ms === undefined ? undefined : { p99Ms, beforeMs: this.beforeP99Ms };
  }
}

/** Returns the p99 of the requests in the last minute. If these are too few, returns the p99 since the start of the daemon. */
export function usualP99(meter: ObservedMeter, nowMs: number): number | undefined {
  return p99Of(meter.latency.recent(nowMs)) ?? p99Of(meter.latency.sinceStart());
}

function p99Of(latency: Latency | undefined): number | undefined {
  return latency && latency.count >= leastLatencyRequests ? latency.p99Ms : undefined;
}
