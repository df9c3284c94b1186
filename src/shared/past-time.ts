import { parseDurationMs } from "./duration.js";

/** Numbers from this value on are Unix milliseconds, smaller ones Unix seconds: 1e11 s is after the year 5000. */
const leastMilliseconds = 1e11;
/** RFC 3339 with a required time zone. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Parses `10m` (before now), a Unix time in seconds or milliseconds, or RFC 3339 to Unix milliseconds. Undefined for other text. */
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
