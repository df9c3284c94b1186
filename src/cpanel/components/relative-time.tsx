import { useEffect, useState } from "react";

const minuteSeconds = 60;
const hourSeconds = 3600;
const daySeconds = 86_400;
const redrawMs = 30_000;

/** Shows the time that has passed since a point in time, such as `5 min ago`. `at` is Unix time in seconds. */
export function RelativeTime({ at }: { at: number }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), redrawMs);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at * 1000);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString("en-GB")}>
      {agoText(at, nowMs)}
    </time>
  );
}

function agoText(at: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor(nowMs / 1000) - at);
  if (seconds < minuteSeconds) return "just now";
  if (seconds < hourSeconds) return `${Math.floor(seconds / minuteSeconds)} min ago`;
  if (seconds < daySeconds) return `${Math.floor(seconds / hourSeconds)} h ago`;
  return `${Math.floor(seconds / daySeconds)} d ago`;
}
