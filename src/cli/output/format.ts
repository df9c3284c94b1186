const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats Unix seconds as RFC 3339, such as `2026-01-31T12:00:00Z`. */
export function toDateTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

/** Formats Unix seconds as a date in UTC. */
export function toDay(unixSeconds: number): string {
  return toDateTime(unixSeconds).slice(0, 10);
}

/** Formats Unix seconds to the minute, such as `2026-01-31 12:00 UTC`. */
export function toMinute(unixSeconds: number): string {
  return `${toDateTime(unixSeconds).slice(0, 16).replace("T", " ")} UTC`;
}

/** Returns two fields for a JSON document: `<name>` contains the time as RFC 3339 text, and `<name>Seconds` as Unix seconds. */
export function timeFields(name: string, unixSeconds: number | undefined): Record<string, string | number> {
  return unixSeconds === undefined ? {} : { [name]: toDateTime(unixSeconds), [`${name}Seconds`]: unixSeconds };
}

/** Formats the time since a Unix time in the largest unit: `now`, `5m ago`, `2h ago`, `3d ago`. */
export function ago(unixSeconds: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor(nowMs / 1000) - unixSeconds);
  return seconds < minute ? "now" : `${inLargestUnit(seconds)} ago`;
}

/** Formats the remaining lifetime of an API key in the largest unit: `in 40s`, `in 5h`, `in 89d`, or `expired`. */
export function endsIn(unixSeconds: number, nowMs: number): string {
  const seconds = unixSeconds - Math.floor(nowMs / 1000);
  return seconds <= 0 ? "expired" : `in ${inLargestUnit(seconds)}`;
}

/**
 * Formats the expiry of an API key for a sentence, as a date. If the expiry is less than 2 days away, returns the minute and the remaining
 * time.
 */
export function endOn(unixSeconds: number, nowMs: number): string {
  const isFar = Math.abs(unixSeconds - nowMs / 1000) >= 2 * day;
  return isFar ? toDay(unixSeconds) : `${toMinute(unixSeconds)} (${endsIn(unixSeconds, nowMs)})`;
}

function inLargestUnit(seconds: number): string {
  if (seconds < minute) return `${seconds}s`;
  if (seconds < hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < day) return `${Math.floor(seconds / hour)}h`;
  return `${Math.floor(seconds / day)}d`;
}

/** Formats a rate per second: with two decimals below 10, without decimals from 10. */
export function toRate(perSecond: number): string {
  return perSecond === 0 ? "0" : perSecond.toFixed(perSecond < 10 ? 2 : 0);
}

export function toMilliseconds(ms: number | null): string {
  return ms === null ? "-" : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

export function toMegabytes(bytes: number): string {
  return bytes === 0 ? "-" : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** Formats a count with its noun, such as `1 version` or `2 versions`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
