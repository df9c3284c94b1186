import type { EventFeed } from "../http/handler.js";
import type { Operations } from "../../shared/client.js";
import { list, type LogEntry, type LogFilter } from "../../shared/contract/worker-logs.js";
import type { Worker } from "../../shared/contract/workers.js";
import { ApiError } from "../../shared/api-error.js";
import { namespacesCover } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";
import { isMissingWorker } from "../instances/ask-others.js";
import { readEntries, type MergedPage } from "../instances/merged-entries.js";
import { followEntries, type ListedSource, type StreamingInstances } from "./follow-entries.js";

/** Placeholder for the worker name and the version in notices that do not concern a single worker or version. */
export const anyWorker = "*";

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

/** A request for log entries, with the functions that request the entries of other daemons. */
export interface LogsCall<Offered extends Operations> extends Pick<
  ListedSource<Offered, LogEntry>,
  "key" | "offered" | "ask" | "askToFollow"
> {
  readonly selection: LogSelection;
  readonly query: Omit<LogFilter, "sinceMs" | "untilMs" | "before"> & {
    readonly since?: string | undefined;
    readonly until?: string | undefined;
    readonly before?: string | undefined;
    readonly follow?: "0" | "1" | undefined;
    readonly instance: string;
  };
  readonly lastEventId: string | undefined;
  /** Throws if the selected workers are not installed on this daemon. */
  readonly assertPresent: () => Promise<void>;
  /** Worker name and version that notices about daemons contain. */
  readonly noticed: Pick<LogEntry, "worker" | "version">;
}

/** Returns the requested log entries, or a stream of new entries if the caller sent `follow`. */
export async function readLogs<Offered extends Operations>(
  { logs, instances }: { readonly logs: WorkerLogsPort; readonly instances: StreamingInstances },
  { selection, query, lastEventId, assertPresent, noticed, ...asked }: LogsCall<Offered>,
): Promise<MergedPage<LogEntry> | EventFeed<LogEntry>> {
  const { follow, since, until, before, instance: wanted, ...filter } = query;
  const nowMs = Date.now();
  const timeOf = (text: string | undefined) => (text === undefined ? undefined : parsePastTimeMs(text, nowMs));
  const selected = { ...filter, sinceMs: timeOf(since), untilMs: timeOf(until) };
  const source: ListedSource<Offered, LogEntry> = {
    ...asked,
    limit: filter.limit,
    timeOf: ({ time }) => time,
    isVisible: ({ worker }) => (typeof selection === "function" ? selection(worker) : selection.includes(worker)),
    assertPresent,
    read: async (beforeId) => {
      await assertPresent();
      return logs.read(selection, { ...selected, before: beforeId });
    },
    follow: ({ afterId, beforeId }, signal) => logs.follow(selection, { ...selected, before: beforeId }, { lastEventId: afterId, signal }),
    noticeOf: (text) => ({ ...noticed, id: 0, time: Date.now(), level: "warn", source: "runtime", text, isNotice: true }),
    // Treats "not installed" as "no entries" only if a single worker is requested. With several workers, a daemon that lacks one of them
    // can have entries of the others, so its error is reported as a problem.
    ...(noticed.worker !== anyWorker && { isAbsent: isMissingWorker }),
  };
  const call = { wanted, before, lastEventId };
  return follow === "1" ? followEntries(instances, source, call) : readEntries(instances, call, source);
}

const offered = { logs: { list } };
type LogOperations = typeof offered;

export function createLogHandlers({
  logs,
  packages,
  instances,
}: {
  readonly logs: WorkerLogsPort;
  readonly packages: { list(): Worker[] };
  readonly instances: StreamingInstances;
}): ResourceHandlers<"logs"> {
  return {
    list: async ({ query: { worker: names, ...query }, principal, lastEventId, key }) => {
      for (const name of names ?? []) assertNamespace(principal, name);
      const forwarded = { ...forwardedQuery(query), worker: names?.join(",") };
      const call: LogsCall<LogOperations> = {
        selection: names ? [...new Set(names)] : (name) => namespacesCover(principal.namespaces, name),
        query,
        lastEventId,
        key,
        offered,
        ask: (client, page) => client.logs.list({ query: { ...forwarded, ...page } }),
        askToFollow: (client, options) => client.logs.list.follow({ query: forwarded }, options),
        assertPresent: async () => {
          const installed = new Set(packages.list().map(({ name }) => name));
          const missing = names?.find((name) => !installed.has(name));
          if (missing !== undefined) throw new ApiError("WORKER_NOT_FOUND", `No worker ${missing} is installed.`);
        },
        noticed: { worker: names?.length === 1 ? (names[0] ?? anyWorker) : anyWorker, version: anyWorker },
      };
      return readLogs({ logs, instances }, call);
    },
  };
}

/** Returns the query that this daemon sends to other daemons, so that each of these returns only its own entries. */
export function forwardedQuery<Query extends { readonly follow?: unknown; readonly before?: unknown; readonly instance: string }>(
  query: Query,
): Omit<Query, "follow" | "before"> {
  const { follow: _follow, before: _before, ...forwarded } = query;
  return { ...forwarded, instance: "self" };
}
