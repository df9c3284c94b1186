import { setImmediate as turn } from "node:timers/promises";
import { logLevels, type LogEntry, type LogFilter } from "../../../shared/contract/worker-logs.js";
import type { WorkerLog } from "./worker-log.js";

/** Limits of one batch. */
const batchEntries = 256;
const batchCharacters = 64 * 1024;

/**
 * Reads a log from the query's start, or after an id, and follows it. Holds only a position: a slow reader costs no memory. Entries dropped
 * before they were read are replaced by one notice.
 */
export async function* followLog(
  log: WorkerLog,
  query: LogFilter,
  { lastEventId, signal }: { lastEventId: number | undefined; signal: AbortSignal },
): AsyncGenerator<LogEntry[]> {
  // A resuming reader has seen the earlier entries, and must also get entries that are older than `since` by now.
  const passes = entryFilter(lastEventId === undefined ? query : { ...query, sinceMs: undefined });
  let position = lastEventId === undefined ? firstPosition(log, query) : log.positionAfter(lastEventId);
  let isCut = lastEventId !== undefined && lastEventId < log.droppedThroughId && position === log.start;
  while (!signal.aborted && !log.isForgotten) {
    const batch: LogEntry[] = [];
    isCut ||= position < log.start;
    const newest = log.at(log.end - 1);
    position = Math.max(position, log.start);
    if (isCut && newest) {
      batch.push(skipNotice(log, newest));
      isCut = false;
    }
    let characters = 0;
    for (; position < log.end && batch.length < batchEntries && characters < batchCharacters; position += 1) {
      const entry = log.at(position) as LogEntry;
      if (!passes(entry)) continue;
      batch.push(entry);
      characters += entry.text.length;
    }
    if (batch.length > 0) yield batch;
    if (position < log.end || position < log.start) continue;
    await log.changed(signal);
    // Sends all entries of one turn as one batch.
    await turn();
  }
}

function firstPosition(log: WorkerLog, query: LogFilter): number {
  const first = log.newest(entryFilter(query), query.limit).entries[0];
  return first ? log.positionAfter(first.id - 1) : log.end;
}

function skipNotice(log: WorkerLog, { time, version }: LogEntry): LogEntry {
  const text = "Entries are missing here: the log dropped them before they were read.";
  return { id: log.droppedThroughId, time, version, level: "warn", source: "runtime", text };
}

/** Returns a function that tests whether an entry matches the query. */
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
