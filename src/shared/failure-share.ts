import type { WorkerMetrics } from "./contract/metrics.js";

/** Shares of failed requests from which a worker or plugin has the state "degraded" (1 in 100) or "failing" (1 in 4). */
export const degradedShare = 0.01;
export const failingShare = 0.25;

export type RequestHealth = "ok" | "degraded" | "failing";

type Counts = Pick<WorkerMetrics["requests"], "perSecond" | "failedPerSecond">;

/** Returns the share of failed requests in the last minute, from 0 to 1. Returns 0 if there were no requests. */
export function failureShare(counts: readonly Counts[]): number {
  const sum = (read: (one: Counts) => number) => counts.reduce((total, one) => total + read(one), 0);
  const perSecond = sum((one) => one.perSecond);
  return perSecond === 0 ? 0 : sum((one) => one.failedPerSecond) / perSecond;
}

export function requestHealth(share: number): RequestHealth {
  if (share >= failingShare) return "failing";
  return share >= degradedShare ? "degraded" : "ok";
}

/** Formats a share of requests in percent, such as `13 %`. A share between 0 and 1 is never rounded to `0 %` or `100 %`. */
export function percentOf(share: number): string {
  if (share > 0 && share < 0.01) return "<1 %";
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100} %`;
}
