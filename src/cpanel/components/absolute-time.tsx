const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const minute = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** Shows the day of a time in the reader's time zone, with the minute in its title. `at` is Unix time in seconds. */
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
