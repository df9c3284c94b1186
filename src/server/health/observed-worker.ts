import { leastLatencyRequests } from "./assess-worker.js";
import { LoggedErrors } from "./logged-errors.js";
import { RequestWindow, type RequestCounters } from "./request-window.js";

/** Number of requests, and the 99th percentile of their durations. `p99Ms` is undefined if `count` is 0. */
interface Latency {
  readonly count: number;
  readonly p99Ms: number | undefined;
}

/** Request counters of a worker version, with statistics of request durations. */
export interface ObservedMeter extends RequestCounters {
  readonly latency: RequestCounters["latency"] & { recent(nowMs: number): Latency; sinceStart(): Latency };
}

/**
 * The active version of a worker. `installation.at`: Unix time in seconds of the version's upload. `problem`: the reason why the daemon
 * cannot serve the version.
 */
export interface ActiveVersion {
  readonly name: string;
  readonly version: string;
  readonly installation?: { readonly at: number; readonly by: string };
  readonly problem?: string;
}

/**
 * The observations of the health monitor about one active version. All times except `activeSinceMs` are in milliseconds on the clock of
 * `performance.now()`.
 */
export class ObservedVersion {
  readonly active: ActiveVersion;
  /** Unix time in milliseconds at which the version became active. */
  readonly activeSinceMs: number;
  readonly errors = new LoggedErrors();
  /**
   * p99 in milliseconds of the last earlier version that received at least `leastLatencyRequests` requests. Undefined if there is no such
   * version.
   */
  readonly beforeP99Ms: number | undefined;
  readonly #window: RequestWindow;
  #startFailure: string | undefined;
  /** Time of the last repeated crash, and the time at which the restart delay ends. */
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

  /**
   * Reads the counters. If a request has succeeded since the last call, discards a failed start, and a crash whose restart delay has ended.
   */
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

  /** Returns the observations about this version for `assessWorker`. */
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

/**
 * Returns the p99 of the last minute in ms. If the last minute has too few requests, returns the p99 since the start of the daemon. Returns
 * undefined if these are too few as well.
 */
export function usualP99(meter: ObservedMeter, nowMs: number): number | undefined {
  return p99Of(meter.latency.recent(nowMs)) ?? p99Of(meter.latency.sinceStart());
}

function p99Of(latency: Latency | undefined): number | undefined {
  return latency && latency.count >= leastLatencyRequests ? latency.p99Ms : undefined;
}
