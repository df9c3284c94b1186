/** RFC 3339 of Unix seconds, such as `2026-01-31T12:00:00Z`. */
function toDateTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(".000Z", "Z");
}

/** The day of Unix seconds, in UTC. */
export function toDay(unixSeconds: number): string {
  return toDateTime(unixSeconds).slice(0, 10);
}

/** A point in time for JSON documents under a name: text for people and the number that the API gave. */
export function timeFields(name: string, unixSeconds: number | undefined): Record<string, string | number> {
  return unixSeconds === undefined ? {} : { [name]: toDateTime(unixSeconds), [`${name}Seconds`]: unixSeconds };
}
