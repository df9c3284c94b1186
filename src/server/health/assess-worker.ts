import { degradedShare, failingShare, percentOf } from "../../shared/failure-share.js";
import type { WorkerState } from "../../shared/contract/worker-health.js";
import type { RecentRequests } from "./request-window.js";

/** Failed requests cause the state "failing" only if the daemon has counted at least this number of requests. */
const leastFailingRequests = 4;
/**
 * A version is slow if its p99 (99th percentile of request durations) is at least `slowFactor` times the p99 of the previous version, and
 * at least `leastSlowMs`.
 */
const slowFactor = 3;
const leastSlowMs = 200;
/** Minimum number of requests from which the daemon compares a p99. With fewer requests, one slow request alone decides the p99. */
export const leastLatencyRequests = 100;
/** Time in ms after a repeated crash for which the worker stays in the state "backoff" if no request succeeds. */
const crashMemoryMs = 60_000;
const dataFullReason = "The data folder is full: the worker can only read and delete in it.";

/** The facts from which `assessWorker` derives the state of a worker. */
export interface WorkerObservation {
  /** The active version. Undefined if no version is active. `problem`: the reason why the daemon cannot serve the version. */
  readonly version: { readonly problem?: string } | undefined;
  /** Error of the last failed start. Undefined if a request has succeeded since that start. */
  readonly startFailure: string | undefined;
  /**
   * The last repeated crash. `ageMs`: time since the crash. `restMs`: time until the next start. Undefined if a request has succeeded since
   * the crash.
   */
  readonly crash: { readonly ageMs: number; readonly restMs: number } | undefined;
  readonly recent: RecentRequests;
  readonly inFlightCount: number;
  readonly isDataFull: boolean;
  /** One sentence about a cron job whose last run failed. Undefined if there is no such cron job. */
  readonly cronFailure: string | undefined;
  /**
   * `p99Ms`: p99 of the last minute. `beforeMs`: p99 of the previous version. Undefined if one of them is from fewer than
   * `leastLatencyRequests` requests.
   */
  readonly latency: { readonly p99Ms: number; readonly beforeMs: number } | undefined;
}

/** The state of a worker, with the cause of this state. */
export interface Assessment {
  readonly state: WorkerState;
  /**
   * Returns one sentence about the cause of the state. `period` names the time in which requests are counted, such as `since 1.4.2` or `in
   * the last minute`.
   */
  readonly reason?: (period: string) => string;
  /** True if the cause is the full data folder. All versions of the worker share this folder, so a rollback does not help. */
  readonly isDataFull?: true;
}

/**
 * Returns the state of a worker. The first cause that applies decides, in this order: no active version, a failed start, repeated crashes,
 * failed requests, a reason for "degraded", no requests. A full data folder is the cause of failed requests and of "degraded", and a second
 * possible cause of failed starts and crashes.
 */
export function assessWorker(observation: WorkerObservation): Assessment {
  const { version, startFailure, recent, inFlightCount, isDataFull } = observation;
  if (!version) return { state: "disabled" };
  if (version.problem !== undefined) return problem("failing", version.problem);
  const broken = startFailure === undefined ? crashProblem(observation) : problem("failing", startFailure);
  if (broken) return isDataFull ? { ...broken, reason: (period) => `${broken.reason?.(period)} ${dataFullReason}` } : broken;
  const found = failingProblem(recent) ?? degradedProblem(observation);
  if (isDataFull) return { ...problem(found?.state ?? "degraded", dataFullReason), isDataFull };
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
  // If a worker has failed all of its last requests, its state stays "failing" even when no further requests arrive.
  if (failedInRow >= leastFailingRequests) return problem("failing", `The last ${failedInRow} requests failed.`);
  return undefined;
}

function degradedProblem({ recent, cronFailure, latency }: WorkerObservation): Assessment | undefined {
  const { requests, failed, failedInRow } = recent;
  // Reports the cron job before the failed requests, because the cron job can have sent these requests.
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
