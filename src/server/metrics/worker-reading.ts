import type { Totals, WorkerMetrics } from "../../shared/contract/metrics.js";
import type { LatencySummary } from "../workers/engine/latency-histogram.js";
import type { WorkerMeter, VersionLoad } from "../workers/engine/worker-meter.js";

/** Request counts of a worker version, with the memory and CPU time of its processes at one time. */
export interface WorkerReading {
  readonly meter: WorkerMeter;
  readonly currentLoad: VersionLoad | undefined;
  readonly rssBytes: number;
  /** Private memory of the processes and their part of the shared memory. Undefined if the system does not report this size. */
  readonly pssBytes: number | undefined;
  readonly cpuSeconds: number;
}

export function toWorkerMetrics(reading: WorkerReading, nowMs: number): WorkerMetrics {
  const { meter, currentLoad } = reading;
  const recent = meter.latency.recent(nowMs);
  const windowSeconds = recent.windowMs / 1000;
  return {
    name: meter.name,
    version: meter.version ?? null,
    kind: currentLoad?.kind ?? null,
    requests: {
      total: meter.endedCount,
      perSecond: recent.count / windowSeconds,
      failed: meter.latency.failedCount,
      failedPerSecond: recent.failedCount / windowSeconds,
      inFlight: meter.inFlightCount,
      queued: currentLoad?.queued ?? 0,
      byStatus: byStatus((digit) => meter.countOf(digit)),
    },
    errors: { total: sumOf([...meter.errors.values()]), byCode: Object.fromEntries(meter.errors) },
    isolates: { running: currentLoad?.running ?? 0, starting: currentLoad?.starting ?? 0, draining: currentLoad?.draining ?? 0 },
    memory: { rssBytes: reading.rssBytes, pssBytes: reading.pssBytes ?? null },
    memoryLimitBytes: currentLoad?.memoryLimitBytes ?? null,
    cpuSeconds: reading.cpuSeconds,
    requestBodyBytes: meter.requestBodyBytes,
    responseBodyBytes: meter.responseBodyBytes,
    openSockets: currentLoad?.openSockets ?? 0,
    latency: { recent: { ...toLatency(recent), windowSeconds }, sinceStart: toLatency(meter.latency.sinceStart()) },
  };
}

/** Adds up the metrics of workers or of daemons. */
export function totalsOf(workers: readonly Totals[]): Totals {
  const sum = (valueOf: (worker: Totals) => number): number => sumOf(workers.map(valueOf));
  const byCode: Record<string, number> = {};
  for (const { errors } of workers) {
    for (const [code, count] of Object.entries(errors.byCode)) byCode[code] = (byCode[code] ?? 0) + count;
  }
  return {
    requests: {
      total: sum(({ requests }) => requests.total),
      perSecond: sum(({ requests }) => requests.perSecond),
      failed: sum(({ requests }) => requests.failed),
      failedPerSecond: sum(({ requests }) => requests.failedPerSecond),
      inFlight: sum(({ requests }) => requests.inFlight),
      queued: sum(({ requests }) => requests.queued),
      byStatus: byStatus((_digit, name) => sum(({ requests }) => requests.byStatus[name])),
    },
    errors: { total: sum(({ errors }) => errors.total), byCode },
    isolates: {
      running: sum(({ isolates }) => isolates.running),
      starting: sum(({ isolates }) => isolates.starting),
      draining: sum(({ isolates }) => isolates.draining),
    },
    memory: {
      rssBytes: sum(({ memory }) => memory.rssBytes),
      pssBytes: workers.some(({ memory }) => memory.pssBytes === null) ? null : sum(({ memory }) => memory.pssBytes ?? 0),
    },
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    requestBodyBytes: sum(({ requestBodyBytes }) => requestBodyBytes),
    responseBodyBytes: sum(({ responseBodyBytes }) => responseBodyBytes),
    openSockets: sum(({ openSockets }) => openSockets),
  };
}

/**
 * Classes of HTTP status codes in the metrics, by their first digit. The digit 0 stands for a client that disconnected before the response.
 */
export const statusClasses = [
  [1, "1xx"],
  [2, "2xx"],
  [3, "3xx"],
  [4, "4xx"],
  [5, "5xx"],
  [0, "aborted"],
] as const;
type StatusDigit = (typeof statusClasses)[number][0];
type StatusClass = (typeof statusClasses)[number][1];

function byStatus(countOf: (digit: StatusDigit, name: StatusClass) => number): Record<StatusClass, number> {
  return Object.fromEntries(statusClasses.map(([digit, name]) => [name, countOf(digit, name)])) as Record<StatusClass, number>;
}

function toLatency({ count, p50Ms, p90Ms, p99Ms, maximumMs }: LatencySummary): WorkerMetrics["latency"]["sinceStart"] {
  return { count, p50Ms: p50Ms ?? null, p90Ms: p90Ms ?? null, p99Ms: p99Ms ?? null, maximumMs: maximumMs ?? null };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
