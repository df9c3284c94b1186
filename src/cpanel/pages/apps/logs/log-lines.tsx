import { memo } from "react";
import type { LogEntry } from "../../../../shared/contract/worker-logs.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/** List of log entries. Each entry is rendered only once, because entries do not change. */
export function LogLines({ entries }: { entries: readonly LogEntry[] }) {
  return (
    <ol className="log-lines">
      {entries.map((entry) => (
        <LogLine key={entry.id} entry={entry} />
      ))}
    </ol>
  );
}

const LogLine = memo(function LogLine({ entry: { time, level, version, source, text } }: { entry: LogEntry }) {
  const date = new Date(time);
  return (
    <li className={`log-line log-${level}`}>
      <time dateTime={date.toISOString()} title={date.toLocaleString("en-GB")}>
        {clock.format(date)}
      </time>
      <span className="log-level">{level}</span>
      <span className="log-version" title={source === "runtime" ? "Written by the daemon" : undefined}>
        {source === "runtime" ? "runtime" : version}
      </span>
      <span className="log-text">{text}</span>
    </li>
  );
});
