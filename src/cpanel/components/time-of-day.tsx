const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A point of this day, in the reader's own time zone. `atMs` is of the clock. */
export function TimeOfDay({ atMs }: { atMs: number }) {
  const date = new Date(atMs);
  return <time dateTime={date.toISOString()}>{second.format(date)}</time>;
}
