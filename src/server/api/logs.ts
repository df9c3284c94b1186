import type { EventFeed } from "../http/handler.js";
import type { LogEntry, LogFilter } from "../../shared/contract/worker-logs.js";
import type { Worker } from "../../shared/contract/workers.js";
import { ApiError } from "../../shared/api-error.js";
import { namespacesCover } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";

/** Selects the workers whose logs a call reads, by a list of names or by a function that returns true for a selected name. */
type LogSelection = readonly string[] | ((name: string) => boolean);

/** The functions of the worker logs that these handlers use. */
export interface WorkerLogsPort {
  read(selection: LogSelection, query: LogFilter): Promise<{ entries: LogEntry[]; hasMore: boolean }>;
  follow(
    selection: LogSelection,
    query: LogFilter,
    from: { lastEventId: number | undefined; signal: AbortSignal },
  ): AsyncIterable<LogEntry[]>;
  /** Returns true if the log contains entries of a worker version. */
  knows(name: string, version: string): Promise<boolean>;
  forget(name: string): void;
}

interface LogsCall {
  readonly query: Omit<LogFilter, "sinceMs" | "untilMs"> & {
    readonly since?: string | undefined;
    readonly until?: string | undefined;
    readonly follow?: "0" | "1" | undefined;
  };
  readonly lastEventId: number | undefined;
  readonly nowMs: number;
}

/** Returns the requested log entries, or a stream of new entries if the caller sent `follow`. */
export function readLogs(
  logs: WorkerLogsPort,
  selection: LogSelection,
  { query: { follow, since, until, ...filter }, lastEventId, nowMs }: LogsCall,
): ReturnType<WorkerLogsPort["read"]> | EventFeed<LogEntry> {
  const timeOf = (text: string | undefined) => (text === undefined ? undefined : parsePastTimeMs(text, nowMs));
  const wanted = { ...filter, sinceMs: timeOf(since), untilMs: timeOf(until) };
  if (follow !== "1") return logs.read(selection, wanted);
  return (signal) => logs.follow(selection, wanted, { lastEventId, signal });
}

export function createLogHandlers({
  logs,
  packages,
}: {
  readonly logs: WorkerLogsPort;
  readonly packages: { list(): Worker[] };
}): ResourceHandlers<"logs"> {
  return {
    list: async ({ query: { worker: names, ...query }, principal, lastEventId }) => {
      const call = { query, lastEventId, nowMs: Date.now() };
      const { namespaces } = principal;
      if (names === undefined) return readLogs(logs, (name) => namespacesCover(namespaces, name), call);
      for (const name of names) assertNamespace(principal, name);
      const installed = new Set(packages.list().map(({ name }) => name));
      const missing = names.find((name) => !installed.has(name));
      if (missing !== undefined) throw new ApiError("WORKER_NOT_FOUND", `No worker ${missing} is installed.`);
      return readLogs(logs, [...new Set(names)], call);
    },
  };
}
