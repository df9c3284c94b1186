import type { LogEntry } from "../../../shared/contract/worker-logs.js";

/** A line of a worker's log. An entry of several lines has several. */
export interface LogLine {
  readonly key: string;
  /** Orders the lines of all workers. */
  readonly id: number;
  /** Empty for what the dashboard itself says. */
  readonly worker: string;
  readonly entry: Pick<LogEntry, "time" | "level" | "version" | "source">;
  readonly isFirst: boolean;
  readonly text: string;
}

/** Tabs are common in stacks; how wide they are is for the terminal to say. */
export function logLines(worker: string, entry: LogEntry): LogLine[] {
  const { id, text } = entry;
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .map((line, index) => ({ key: `${id}:${index}`, id, worker, entry, isFirst: index === 0, text: line }));
}
