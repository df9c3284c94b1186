import { degradedShare, failingShare, percentOf } from "../../shared/failure-share.js";
import type { WorkerState } from "../../shared/contract/worker-health.js";
import type { RecentRequests } from "./request-window.js";

/** Minimum number of requests for the state "failing". */
const leastFailingRequests = 4;
/** A version is slow if its p99 is at least this many times the p99 of the version before, and at least `leastSlowMs`. */
const slowFactor = 3;
const leastSlowMs = 200;
/** Minimum number of requests for a comparison of p99. With fewer requests, the first request alone decides the p99. */
export const leastLatencyRequests = 100;
/** Time after a crash for which a worker without a successful request stays in the state "backoff". */
const crashMemoryMs = 60_000;

/** What is known about a worker at one time. Times are in milliseconds before or after this time. */
export interface WorkerObservation {
  /** Undefined if no version is active. `problem`: the reason why the version cannot be served. */
  readonly version: { readonly problem?: string } | undefined;
  /** Error of the last start, unless a request has succeeded since. */
  readonly startFailure: string | undefined;
  /** The last repeated crash, unless a request has succeeded since. */
  readonly crash: { readonly ageMs: number; readonly restMs: number } | undefined;
  readonly recent: RecentRequests;
  readonly inFlightCount: number;
  readonly isDataFull: boolean;
  /** One sentence about the last run of a cron job, if it failed. */
  readonly cronFailure: string | undefined;
  /** p99 of the last minute and of the version before. Undefined with fewer than `leastLatencyRequests` requests. */
  readonly latency: { readonly p99Ms: number; readonly beforeMs: number } | undefined;
}

/** The state of a worker with its cause. */
export interface Assessment {
  readonly state: WorkerState;
  /** Returns one sentence about the cause. `period` is the time of counted requests, such as `since 1.4.2` or `in the last minute`. */
  readonly reason?: (period: string) => string;
}

/** Returns the state of a worker: the first of disabled, failing, backoff, degraded, idle and ok that applies. */
export function assessWorker(observation: WorkerObservation): Assessment {
  const { version, startFailure, recent, inFlightCount } = observation;
  if (!version) return { state: "disabled" };
  const failure = version.problem ?? startFailure;
  if (failure !== undefined) return problem("failing", failure);
  const found = crashProblem(observation) ?? failingProblem(recent) ?? degradedProblem(observation);
  if (found) return found;
  return { state: recent.requests === 0 && inFlightCount === 0 ? "idle" : "ok" };
}

function crashProblem({ crash }: WorkerObservation): Assessment | undefined {
  if (!crash) return undefined;
  if (crash.restMs > 0 || crash.ageMs < crashMemoryMs)
    return problem("backoff", "The worker crashed repeatedly, so the daemon delays its next start.");
  return problem("failing", "The worker crashed repeatedly, and no request has succeeded since.");
}

function failingProblem({ requests, failed, failedInRow }: RecentRequests): Assessment | undefined {
  if (requests >= leastFailingRequests && failed / requests >= failingShare) return failedRequests("failing", failed / requests);
  // Keeps the state of a worker that fails each request, after its visitors have left.
  if (failedInRow >= leastFailingRequests) return problem("failing", `The last ${failedInRow} requests failed.`);
  return undefined;
}

function degradedProblem({ recent, isDataFull, cronFailure, latency }: WorkerObservation): Assessment | undefined {
  const { requests, failed, failedInRow } = recent;
  if (isDataFull) return problem("degraded", "The data folder is full: the worker can only read and delete in it.");
  // Precedes the failed requests, because these can be those of the cron job.
  if (cronFailure !== undefined) return problem("degraded", cronFailure);
  if (requests > 0 && failed / requests >= degradedShare) return failedRequests("degraded", failed / requests);
  if (failedInRow > 0)
    return problem("degraded", failedInRow === 1 ? "The last request failed." : `The last ${failedInRow} requests failed.`);
  if (!latency || latency.p99Ms < leastSlowMs || latency.p99Ms < slowFactor * latency.beforeMs) return undefined;
  const [now, before] = [latency.p99Ms, latency.beforeMs].map((ms) => Math.round(ms));
  return { state: "degraded", reason: (period) => `The p99 latency is ${now} ms ${period}; before this version it was ${before} ms.` };
}

function failedRequests(state: "degraded" | "failing", share: number): Assessment {
  return { state, reason: (period) => `${percentOf(share)} of requests failed ${period}.` };
}

function problem(state: WorkerState, reason: string): Assessment {
  return { state, reason: () => reason };
}
