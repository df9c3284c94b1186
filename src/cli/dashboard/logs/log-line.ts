import type { LogEntry } from "../../../shared/contract/worker-logs.js";

/** One line of the text of a log entry. */
export interface LogLine {
  readonly key: string;
  /** Id of the log entry. Ids increase in the order in which the daemon writes entries of all workers. */
  readonly id: number;
  /** Name of the worker. Empty for a line that the dashboard itself adds. */
  readonly worker: string;
  readonly entry: Pick<LogEntry, "time" | "level" | "version" | "source" | "instance">;
  readonly isFirst: boolean;
  readonly text: string;
}

/** Splits the text of a log entry into lines. Replaces tabs with spaces, because the width of a tab depends on the terminal. */
export function logLines(entry: LogEntry): LogLine[] {
  const { id, worker, text, instance = "", isNotice, time } = entry;
  const key = `${instance}:${isNotice ? `notice ${time}` : id}`;
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .map((line, index) => ({ key: `${key}:${index}`, id, worker, entry, isFirst: index === 0, text: line }));
}
