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

/** Shows a time in the future, such as an expiry, as a date. If the time is near, adds the remaining time. `at` is Unix time in seconds. */
export function EndTime({ at }: { at: number }) {
  const date = new Date(at * 1000);
  return (
    <time dateTime={date.toISOString()} title={minute.format(date)}>
      {endText(at, Date.now() / 1000)}
    </time>
  );
}

const hourSeconds = 3600;
/** Remaining time in seconds below which `endText` adds the time of day and the remaining time to the date. */
const nearSeconds = 48 * hourSeconds;

/**
 * Formats a time in the future as a date, such as `26 Oct 2026`. Below 48 h, adds the time of day and the remaining time, as in `26 Oct
 * 2026, 14:05 (in 3 h)`. Both times are Unix times in seconds.
 */
export function endText(at: number, nowSeconds: number): string {
  const leftSeconds = at - nowSeconds;
  if (leftSeconds <= 0 || leftSeconds >= nearSeconds) return toDay(at);
  const left = leftSeconds < hourSeconds ? `${Math.ceil(leftSeconds / 60)} min` : `${Math.round(leftSeconds / hourSeconds)} h`;
  return `${minute.format(new Date(at * 1000))} (in ${left})`;
}

/** Formats a Unix time in seconds as a date, such as `26 Oct 2026`. */
function toDay(at: number): string {
  return day.format(new Date(at * 1000));
}
