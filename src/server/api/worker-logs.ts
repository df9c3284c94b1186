import { ApiError } from "../../shared/api-error.js";
import type { EventFeed, HandlerOutput } from "../../shared/contract/endpoint.js";
import type { LogEntry, LogFilter, logs as logsEndpoint } from "../../shared/contract/worker-logs.js";
import { parsePastTimeMs } from "../../shared/past-time.js";

/** What these handlers need of the logs. */
export interface WorkerLogsPort {
  read(name: string, query: LogFilter): { entries: LogEntry[]; hasMore: boolean };
  follow(name: string, query: LogFilter, from: { lastEventId: number | undefined; signal: AbortSignal }): AsyncIterable<LogEntry[]>;
  /** Whether the version has entries. */
  knows(name: string, version: string): boolean;
  forget(name: string): void;
}

interface LogsCall {
  readonly name: string;
  /** The installed ones; none = there is no such worker. */
  readonly versions: readonly string[];
  readonly query: Omit<LogFilter, "sinceMs" | "untilMs"> & {
    readonly since?: string | undefined;
    readonly until?: string | undefined;
    readonly follow?: "0" | "1" | undefined;
  };
  readonly lastEventId: number | undefined;
  readonly nowMs: number;
}

/** The entries of a worker that a call asks for, or the feed of those to come. */
export function readLogs(
  logs: WorkerLogsPort,
  { name, versions, query, lastEventId, nowMs }: LogsCall,
): HandlerOutput<typeof logsEndpoint> {
  if (versions.length === 0) throw new ApiError("WORKER_NOT_FOUND", `No worker ${name} is installed.`);
  const { follow, since, until, ...filter } = query;
  if (filter.version !== undefined && !versions.includes(filter.version) && !logs.knows(name, filter.version))
    throw new ApiError("WORKER_VERSION_NOT_FOUND", `${name} ${filter.version} is not installed, and has left no entries.`);
  const timeOf = (text: string | undefined) => (text === undefined ? undefined : parsePastTimeMs(text, nowMs));
  const wanted = { ...filter, sinceMs: timeOf(since), untilMs: timeOf(until) };
  if (follow !== "1") return logs.read(name, wanted);
  const feed: EventFeed<LogEntry> = (signal) => logs.follow(name, wanted, { lastEventId, signal });
  return feed;
}
