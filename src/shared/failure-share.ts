import type { WorkerMetrics } from "./contract/metrics.js";

/** From this share of failed requests on a worker is degraded, and from the second on it is failing: a bug in one of a hundred, or of four, requests. */
const degradedShare = 0.01;
const failingShare = 0.25;

export type RequestHealth = "ok" | "degraded" | "failing";

type Counts = Pick<WorkerMetrics["requests"], "total" | "failed" | "perSecond" | "failedPerSecond">;

/** The share of requests that failed, 0 to 1: of the last minute, or since the daemon started when the last minute had none. */
export function failureShare(counts: readonly Counts[]): number {
  const sum = (read: (one: Counts) => number) => counts.reduce((total, one) => total + read(one), 0);
  const perSecond = sum((one) => one.perSecond);
  if (perSecond > 0) return sum((one) => one.failedPerSecond) / perSecond;
  const total = sum((one) => one.total);
  return total === 0 ? 0 : sum((one) => one.failed) / total;
}

export function requestHealth(share: number): RequestHealth {
  if (share >= failingShare) return "failing";
  return share >= degradedShare ? "degraded" : "ok";
}

/** Such as `13 %`; never `0 %` of what failed, nor `100 %` of what partly succeeded. */
export function percentOf(share: number): string {
  if (share > 0 && share < 0.01) return "<1 %";
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100} %`;
}
