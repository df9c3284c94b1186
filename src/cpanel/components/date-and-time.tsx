const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Shows day, hour, minute and second of a time in the reader's time zone. The tooltip adds the year. `atMs` is Unix time in milliseconds. */
export function DateAndTime({ atMs }: { atMs: number }) {
  const date = new Date(atMs);
  return (
    <time className="date-and-time" dateTime={date.toISOString()} title={date.toLocaleString("en-GB")}>
      <span>{day.format(date)},</span> <span>{clock.format(date)}</span>
    </time>
  );
}
