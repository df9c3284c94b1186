import { parseDurationMs } from "./duration.js";

/** From here on a number is Unix milliseconds, below it Unix seconds: as seconds it would lie beyond the year 5000. */
const leastMilliseconds = 1e11;

/** Unix milliseconds of `10m` (that long before now), or of a Unix time in seconds or milliseconds; undefined when it is none of them. */
export function parseSinceMs(text: string, nowMs: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) {
    const number = Number(text);
    return number < leastMilliseconds ? number * 1000 : number;
  }
  const durationMs = parseDurationMs(text);
  return durationMs === undefined ? undefined : nowMs - durationMs;
}
