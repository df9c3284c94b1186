import { logLevels, type LogEntry, type LogFilter } from "../../../shared/contract/worker-logs.js";

/** The query as a test of one entry. */
export function entryFilter({ version, level, text, sinceMs, untilMs, before }: LogFilter): (entry: LogEntry) => boolean {
  const leastLevel = logLevels.indexOf(level ?? "debug");
  const needle = text?.toLowerCase();
  return (entry) =>
    (before === undefined || entry.id < before) &&
    (version === undefined || entry.version === version) &&
    (sinceMs === undefined || entry.time >= sinceMs) &&
    (untilMs === undefined || entry.time < untilMs) &&
    logLevels.indexOf(entry.level) >= leastLevel &&
    (needle === undefined || entry.text.toLowerCase().includes(needle));
}
