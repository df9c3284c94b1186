const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const minute = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** A point in time as its day, in the reader's own time zone; the minute is in its title. `at` is Unix time in seconds. */
export function AbsoluteTime({ at }: { at: number }) {
  const date = new Date(at * 1000);
  return (
    <time dateTime={date.toISOString()} title={minute.format(date)}>
      {day.format(date)}
    </time>
  );
}

/** Formats the day of a Unix time in seconds as text. */
export function toDay(at: number): string {
  return day.format(new Date(at * 1000));
}
