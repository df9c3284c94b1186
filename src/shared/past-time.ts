import { parseDurationMs } from "./duration.js";

/** From here on a number is Unix milliseconds, below it Unix seconds: as seconds it would lie beyond the year 5000. */
const leastMilliseconds = 1e11;
/** RFC 3339, as logs and lists show times in pipes; the zone is required. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Unix milliseconds of `10m` (that long before now), of a Unix time in seconds or milliseconds, or of RFC 3339; undefined when it is none of them. */
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
