import type { LogEntry } from "../../../shared/contract/worker-logs.js";

/** One line of a log entry. */
export interface LogLine {
  readonly key: string;
  /** Sort order across all workers. */
  readonly id: number;
  /** Empty for lines of the dashboard itself. */
  readonly worker: string;
  readonly entry: Pick<LogEntry, "time" | "level" | "version" | "source">;
  readonly isFirst: boolean;
  readonly text: string;
}

/** Splits an entry into lines. Replaces tabs, common in stack traces, whose width depends on the terminal. */
export function logLines(worker: string, entry: LogEntry): LogLine[] {
  const { id, text } = entry;
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .map((line, index) => ({ key: `${id}:${index}`, id, worker, entry, isFirst: index === 0, text: line }));
}
