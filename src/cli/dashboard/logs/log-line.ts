import type { LogEntry } from "../../../shared/contract/worker-logs.js";

/** One text line of a log entry. */
export interface LogLine {
  readonly key: string;
  /** Id of the log entry. Entries of all workers are sorted by id. */
  readonly id: number;
  /** Name of the worker. Empty for lines that the dashboard itself adds. */
  readonly worker: string;
  readonly entry: Pick<LogEntry, "time" | "level" | "version" | "source">;
  readonly isFirst: boolean;
  readonly text: string;
}

/** Splits a log entry into lines. Replaces tabs, common in stack traces, because their width depends on the terminal. */
export function logLines(worker: string, entry: LogEntry): LogLine[] {
  const { id, text } = entry;
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .map((line, index) => ({ key: `${id}:${index}`, id, worker, entry, isFirst: index === 0, text: line }));
}
