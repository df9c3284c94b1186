import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import type { LogFiles } from "./log-files.js";

/** The time of a file can be that of the last tick of the kernel's clock, which is before the time of its last entry. */
const clockToleranceMs = 1000;

/** Ids from which on all entries of a worker are in memory. */
export interface FirstIdsInMemory {
  readonly output: number;
  readonly requests: number;
}

interface WantedEntries {
  readonly passes: (entry: LogEntry) => boolean;
  /** Maximum number of entries. */
  readonly limit: number;
  /** All earlier entries fail `passes`. */
  readonly leastId?: number | undefined;
  /** Unix milliseconds. All earlier entries fail `passes`. */
  readonly sinceMs?: number | undefined;
  readonly firstIdsOf: (name: string) => FirstIdsInMemory;
}

/** A worker, and the Unix time in milliseconds of the last change of its files, if known. */
interface StoredLog {
  readonly name: string;
  readonly modifiedMs?: number;
}

/**
 * Adds the matching entries that are in files and no longer in memory to entries of memory. Returns the newest ones, oldest first. Skips
 * files that can have no newer entry, so logs with recent changes must come first.
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
    // The source of a notice about dropped requests is "runtime".
    const firstIdOf = { request: requests, app: output, runtime: Math.max(output, requests) };
    const isOnlyInFile = ({ id, source }: LogEntry) => id < firstIdOf[source];
    const found = await files.read(name, (entry) => isOnlyInFile(entry) && passes(entry), { limit, leastId: fromId });
    newest = byId([...newest, ...found]).slice(-limit);
  }
  return newest;
}

/** Returns the entries in the order of their ids, each id once. */
export function byId(entries: readonly LogEntry[]): LogEntry[] {
  const unique = new Map(entries.map((entry) => [entry.id, entry]));
  return [...unique.values()].toSorted((one, other) => one.id - other.id);
}
