const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const durationPattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/**
 * Parses a duration to milliseconds: `500ms`, `30s`, `5m` (minutes), `1h`, `7d`, or a number, which means seconds. Returns undefined for
 * any other value.
 */
export function parseDurationMs(value: string | number): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? value * 1000 : undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const match = durationPattern.exec(value);
  return match ? Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]) : undefined;
}

const lifetimeSeconds = { min: 60, h: 3600, d: 86_400, w: 7 * 86_400, m: 30 * 86_400, y: 365 * 86_400 } as const;
const lifetimePattern = /^([1-9]\d{0,5})(min|[hdwmy])$/;
/** Maximum lifetime of a key: 100 years. */
const maximumLifetimeSeconds = 100 * lifetimeSeconds.y;

/**
 * Parses a lifetime to seconds: `30min`, `12h`, `30d`, `2w`, `6m` (months of 30 days) or `1y` (365 days). Returns undefined for an invalid
 * text and for more than 100 years.
 */
export function parseLifetimeSeconds(text: string): number | undefined {
  const match = lifetimePattern.exec(text);
  if (!match) return undefined;
  const seconds = Number(match[1]) * lifetimeSeconds[match[2] as keyof typeof lifetimeSeconds];
  return seconds <= maximumLifetimeSeconds ? seconds : undefined;
}
