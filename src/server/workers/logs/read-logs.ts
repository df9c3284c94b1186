import { logLevels, type LogEntry, type LogFilter } from "../../../shared/contract/worker-logs.js";
import type { EntryRing } from "./entry-ring.js";

/** Returns a function that tests whether an entry matches the query. */
export function entryFilter(filter: LogFilter): (entry: LogEntry) => boolean {
  const { version, level, source, text, sinceMs, untilMs, before, status, requestId } = filter;
  const leastLevel = logLevels.indexOf(level ?? "debug");
  const needle = text?.toLowerCase();
  return (entry) =>
    (before === undefined || entry.id < before) &&
    (version === undefined || entry.version === version) &&
    (source === undefined || entry.source === source) &&
    (sinceMs === undefined || entry.time >= sinceMs) &&
    (untilMs === undefined || entry.time < untilMs) &&
    (status === undefined || hasStatus(entry, status)) &&
    (requestId === undefined || entry.request?.requestId === requestId) &&
    logLevels.indexOf(entry.level) >= leastLevel &&
    (needle === undefined || entry.text.toLowerCase().includes(needle));
}

/** Returns whether the status of a request equals `status`. `status` is a number such as `404` or a class such as `5xx`. */
function hasStatus({ request }: LogEntry, status: string): boolean {
  return request !== undefined && String(request.status).startsWith(status.replace("xx", ""));
}

/** Returns the newest matching entries of several rings, oldest first, and whether older matching entries exist. */
export function newestEntries(
  rings: Iterable<EntryRing>,
  passes: (entry: LogEntry) => boolean,
  limit: number,
): { entries: LogEntry[]; hasMore: boolean } {
  // Reads one more entry than the limit, to find out whether there are older matching entries.
  const wanted = limit + 1;
  let entries: LogEntry[] = [];
  for (const ring of rings) {
    const leastId = entries.length === wanted ? (entries[0] as LogEntry).id : 0;
    const found = ring.newest(passes, { limit: wanted, leastId });
    if (found.length > 0) entries = [...entries, ...found].toSorted((one, other) => one.id - other.id).slice(-wanted);
  }
  return { entries: entries.slice(-limit), hasMore: entries.length > limit };
}
