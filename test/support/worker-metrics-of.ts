import type { WorkerMetrics } from "../../src/shared/contract/metrics.js";
import { counts } from "./fake-daemon.js";

const latency = { count: 0, p50Ms: null, p90Ms: null, p99Ms: null, maximumMs: null };

/** Returns the metrics of version 1.0.0 of a worker with these requests. */
export function workerMetricsOf(name: string, requests: Partial<WorkerMetrics["requests"]>): WorkerMetrics {
  return {
    name,
    version: "1.0.0",
    kind: "module",
    ...counts,
    requests: { ...counts.requests, ...requests },
    latency: { recent: { ...latency, windowSeconds: 60 }, sinceStart: latency },
  };
}
