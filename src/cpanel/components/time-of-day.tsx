const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Shows the hour, minute and second of a time in the reader's time zone. `atMs` is Unix time in milliseconds. */
export function TimeOfDay({ atMs }: { atMs: number }) {
  const date = new Date(atMs);
  return <time dateTime={date.toISOString()}>{second.format(date)}</time>;
}
