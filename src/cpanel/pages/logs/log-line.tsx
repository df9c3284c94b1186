import { memo } from "react";
import { Button } from "../../components/button.js";
import { Fact } from "../../components/facts.js";
import { Icon, type IconName } from "../../components/icon.js";
import { usePanel } from "../../use-panel.js";
import { entryText, markWords, type LogMark, type LogRow, type MarkType } from "./log-row.js";
import type { LogEntry } from "../../../shared/contract/worker-logs.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

interface LogLineProps {
  readonly row: LogRow;
  /** Position in the list, from 1. */
  readonly position: number;
  readonly isOpen: boolean;
  /** Whether the Tab key reaches the row. Arrow keys move between rows. */
  readonly isTabStop: boolean;
  readonly hasName: boolean;
  /** Whether the row has the name of its daemon. */
  readonly hasInstance: boolean;
  readonly onToggle: (key: string) => void;
}

/** One row of the log: an event, or an entry that opens its details. */
export const LogLine = memo(function LogLine({ row, position, isOpen, isTabStop, hasName, hasInstance, onToggle }: LogLineProps) {
  const { key, at, entry, mark } = row;
  if (mark) return <MarkLine mark={mark} at={at} rowKey={key} />;
  if (!entry) return null;
  const time = clock.format(at);
  const name = entry.source === "runtime" ? "runtime" : entry.version;
  return (
    <li className={`log-line log-${entry.level}${isOpen ? " log-open" : ""}`} data-row={key} aria-setsize={-1} aria-posinset={position}>
      <button
        type="button"
        className="log-toggle"
        aria-expanded={isOpen}
        aria-label={`Details of the line at ${time}`}
        tabIndex={isTabStop ? 0 : -1}
        onClick={() => onToggle(key)}
      >
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} size={12} />
      </button>
      <time dateTime={new Date(at).toISOString()}>{time}</time>
      <span className="log-level">{entry.level}</span>
      {hasInstance && (
        <span className="log-instance" title={entry.instance}>
          {entry.instance}
        </span>
      )}
      {hasName && (
        <span className="log-name" title={entry.worker}>
          {entry.worker}
        </span>
      )}
      <span className="log-version" title={entry.source === "runtime" ? "Written by the daemon" : name}>
        {name}
      </span>
      <span className="log-text">
        {isOpen ? entry.text : row.text}
        {!isOpen && row.foldedFrames > 0 && <span className="log-folded"> +{row.foldedFrames} frames</span>}
      </span>
      {isOpen && <Details entry={entry} />}
    </li>
  );
});

function Details({ entry }: { entry: LogEntry }) {
  const { toasts } = usePanel();
  const { worker, version, level, source, time, request, instance } = entry;
  const copy = async (text: string, said: string) => {
    try {
      await navigator.clipboard.writeText(text);
      toasts.say(said);
    } catch {
      toasts.say("The browser does not allow copying. Select the text instead.");
    }
  };
  const facts = [
    { name: "Time", value: new Date(time).toISOString() },
    { name: "App", value: `${worker} ${version}` },
    ...(instance === undefined ? [] : [{ name: "Instance", value: instance }]),
    { name: "Level and source", value: `${level}, ${source}` },
    ...(request
      ? [
          { name: "Request", value: `${request.method} ${request.path}` },
          { name: "Status", value: String(request.status) },
          { name: "Duration", value: `${request.durationMs.toLocaleString("en-GB")} ms` },
          { name: "Response body", value: `${request.responseBytes.toLocaleString("en-GB")} bytes` },
          {
            name: "Client",
            value: request.forwardedFor === undefined ? request.client : `${request.forwardedFor} (through ${request.client})`,
          },
          { name: "Request id", value: <code>{request.requestId}</code> },
        ]
      : []),
  ];
  return (
    <div className="log-details">
      <dl className="log-facts">
        {facts.map(({ name, value }) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      <div className="log-details-buttons">
        <Button onPress={() => void copy(entryText(entry), "Line copied.")}>
          <Icon name="copy" /> Copy line
        </Button>
        {request && (
          <Button onPress={() => void copy(request.requestId, "Request id copied.")}>
            <Icon name="copy" /> Copy request id
          </Button>
        )}
      </div>
    </div>
  );
}

const markIcons: Readonly<Record<MarkType, IconName>> = {
  "worker.installed": "rocket",
  "worker.enabled": "play",
  "worker.disabled": "power",
  "worker.restarted": "restart",
  "worker.crashed": "warning",
  "worker.start-failed": "warning",
};

function MarkLine({ mark: { type, subject, by, instance, message }, at, rowKey }: { mark: LogMark; at: number; rowKey: string }) {
  const isFailure = type === "worker.crashed" || type === "worker.start-failed";
  return (
    <li className={`log-mark${isFailure ? " log-mark-failure" : ""}`} data-row={rowKey}>
      <Icon name={markIcons[type]} size={14} />
      <time dateTime={new Date(at).toISOString()}>{clock.format(at)}</time>
      <span className="log-mark-text">
        <strong>{markWords[type]}</strong> {subject}
        {by !== undefined && ` by ${by}`}
        {instance !== undefined && ` on ${instance}`}
        {message !== undefined && `: ${message}`}
      </span>
    </li>
  );
}
