import { parseDurationMs } from "./duration.js";

/**
 * Smallest number that is parsed as Unix milliseconds. A smaller number means Unix seconds: 1e11 s is after the year 5000, and 1e11 ms is
 * in 1973.
 */
const leastMilliseconds = 1e11;
/** Matches a date and time in RFC 3339 format, with a time zone. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * Parses a time to Unix milliseconds: `10m` (10 minutes before now), a Unix time in seconds or milliseconds, or a time in RFC 3339 format.
 * Returns undefined for any other text.
 */
export function parsePastTimeMs(text: string, nowMs: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) {
    const number = Number(text);
    return number < leastMilliseconds ? number * 1000 : number;
  }
  if (rfc3339.test(text)) {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? undefined : ms;
  }
  const durationMs = parseDurationMs(text);
  return durationMs === undefined ? undefined : nowMs - durationMs;
}
