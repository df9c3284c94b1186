const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Shows a time of the current day in the reader's time zone. `atMs` is in Unix milliseconds. */
export function TimeOfDay({ atMs }: { atMs: number }) {
  const date = new Date(atMs);
  return <time dateTime={date.toISOString()}>{second.format(date)}</time>;
}
