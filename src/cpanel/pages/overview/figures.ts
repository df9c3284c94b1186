import type { RequestHealth } from "../../../shared/failure-share.js";

/** Colors for a share of failed requests, by the state of a worker with this share. */
export const figureTones = { ok: "plain", degraded: "warn", failing: "bad" } as const satisfies Record<RequestHealth, string>;
export const lineTones = { ok: "accent", degraded: "warn", failing: "bad" } as const satisfies Record<RequestHealth, string>;

/** Formats a rate per second, with two decimals below 10 and as a whole number otherwise. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond < 10 ? perSecond.toFixed(2) : Math.round(perSecond).toLocaleString("en-GB");
}

/** Formats bytes in MB, with one decimal below 100. */
export function megabytes(bytes: number): string {
  const count = bytes / 1024 / 1024;
  return `${count < 100 ? count.toFixed(1) : Math.round(count).toLocaleString("en-GB")} MB`;
}

/** Formats the highest of several latencies, such as `1.5 ms`. Ignores null values. */
export function milliseconds(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "–";
  const slowest = Math.max(...known);
  return `${slowest < 10 ? slowest.toFixed(1) : Math.round(slowest).toLocaleString("en-GB")} ms`;
}

/** Formats a share from 0 to 1 in percent, with one decimal below 10 %, such as `1.9 %`. A share above 0 is at least `0.1 %`. */
export function percent(share: number): string {
  if (share === 0) return "0 %";
  return share < 0.1 ? `${Math.max(0.1, share * 100).toFixed(1)} %` : `${Math.round(share * 100)} %`;
}
