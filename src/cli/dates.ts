/** RFC 3339 of Unix seconds, such as `2026-01-31T12:00:00Z`. */
export function toDateTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

/** The day of Unix seconds, in UTC. */
export function toDay(unixSeconds: number): string {
  return toDateTime(unixSeconds).slice(0, 10);
}

/** The minute of Unix seconds, in UTC, such as `2026-01-31 12:00 UTC`. */
export function toMinute(unixSeconds: number): string {
  return `${toDateTime(unixSeconds).slice(0, 16).replace("T", " ")} UTC`;
}

/** A point in time for JSON documents under a name: text for people and the number that the API gave. */
export function timeFields(name: string, unixSeconds: number | undefined): Record<string, string | number> {
  return unixSeconds === undefined ? {} : { [name]: toDateTime(unixSeconds), [`${name}Seconds`]: unixSeconds };
}

/** How long ago a point in time was, in its largest unit: `now`, `5m ago`, `2h ago`, `3d ago`. */
export function ago(unixSeconds: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor(nowMs / 1000) - unixSeconds);
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}
