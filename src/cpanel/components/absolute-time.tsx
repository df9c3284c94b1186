const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const minute = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** Shows the date of a time in the reader's time zone. The tooltip adds hour and minute. `at` is Unix time in seconds. */
export function AbsoluteTime({ at }: { at: number }) {
  const date = new Date(at * 1000);
  return (
    <time dateTime={date.toISOString()} title={minute.format(date)}>
      {day.format(date)}
    </time>
  );
}

/** Formats a Unix time in seconds as a date, such as `26 Oct 2026`. */
export function toDay(at: number): string {
  return day.format(new Date(at * 1000));
}
