import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import type { LogFiles } from "./log-files.js";

/**
 * Tolerance in ms for the modification time of a file. The kernel sets the modification time to its last clock tick, which can be before
 * the time of the last entry.
 */
const clockToleranceMs = 1000;

/** The lowest id from which memory contains all entries of a worker. The lowest ids of requests and of output differ. */
export interface FirstIdsInMemory {
  readonly output: number;
  readonly requests: number;
}

interface WantedEntries {
  readonly passes: (entry: LogEntry) => boolean;
  /** Maximum number of entries to return. */
  readonly limit: number;
  /** Lowest id that can match. `passes` returns false for all lower ids. */
  readonly leastId?: number | undefined;
  /** Earliest Unix time in ms that can match. `passes` returns false for all earlier entries. */
  readonly sinceMs?: number | undefined;
  readonly firstIdsOf: (name: string) => FirstIdsInMemory;
}

/** A worker with log files. `modifiedMs` is the Unix time in ms of their last change, if known. */
interface StoredLog {
  readonly name: string;
  readonly modifiedMs?: number;
}

/**
 * Adds the matching entries that only the files contain. Returns the newest entries, oldest first. `stored` must be sorted, last changed
 * log first, because the function skips files without newer entries.
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
    // Uses the higher id for the source `runtime`, because a notice about dropped requests also has this source.
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
