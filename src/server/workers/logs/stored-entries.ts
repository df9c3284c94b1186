import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import type { LogFiles } from "./log-files.js";

/**
 * Tolerance for the modification time of a file, which is the last tick of the kernel's clock. This tick can be before the time of the last
 * entry in the file.
 */
const clockToleranceMs = 1000;

/** Ids of a worker's entries: all entries from these ids on are in memory. */
export interface FirstIdsInMemory {
  readonly output: number;
  readonly requests: number;
}

interface WantedEntries {
  readonly passes: (entry: LogEntry) => boolean;
  /** Maximum number of entries to return. */
  readonly limit: number;
  /** Lowest id that can match: all entries with lower ids fail `passes`. */
  readonly leastId?: number | undefined;
  /** Earliest Unix time in milliseconds that can match: all earlier entries fail `passes`. */
  readonly sinceMs?: number | undefined;
  readonly firstIdsOf: (name: string) => FirstIdsInMemory;
}

/** A worker with log files. `modifiedMs`: Unix time of the last change of the files in milliseconds, if known. */
interface StoredLog {
  readonly name: string;
  readonly modifiedMs?: number;
}

/**
 * Adds matching entries that are only in files to the entries in memory. Returns the newest entries, oldest first. `stored` must begin with
 * the most recently changed log, because files without newer entries are skipped.
 */
export async function addStoredEntries(
  files: LogFiles,
  { inMemory, stored }: { readonly inMemory: readonly LogEntry[]; readonly stored: readonly StoredLog[] },
  { passes, limit, leastId = 0, sinceMs = 0, firstIdsOf }: WantedEntries,
): Promise<LogEntry[]> {
  let newest = [...inMemory];
  for (const { name, modifiedMs = Number.POSITIVE_INFINITY } of stored) {
    const oldest = newest.length >= limit ? newest.at(-limit) : undefined;
    const fromId = Math.max(leastId, oldest?.id ?? 0);
    const { output, requests } = firstIdsOf(name);
    const isCovered = Math.max(output, requests) <= fromId;
    if (isCovered || modifiedMs + clockToleranceMs < Math.max(sinceMs, oldest?.time ?? 0)) continue;
    // A notice about dropped requests also has the source `runtime`, so this source uses the higher id.
    const firstIdOf = { request: requests, app: output, runtime: Math.max(output, requests) };
    const isOnlyInFile = ({ id, source }: LogEntry) => id < firstIdOf[source];
    const found = await files.read(name, (entry) => isOnlyInFile(entry) && passes(entry), { limit, leastId: fromId });
    newest = byId([...newest, ...found]).slice(-limit);
  }
  return newest;
}

/** Returns the entries sorted by id, without duplicate ids. */
export function byId(entries: readonly LogEntry[]): LogEntry[] {
  const unique = new Map(entries.map((entry) => [entry.id, entry]));
  return [...unique.values()].toSorted((one, other) => one.id - other.id);
}
