import {
  list,
  logLevels,
  logs,
  logSources,
  type LogEntry,
  type LogFilter,
  type LogLevel,
  type LogSource,
} from "../../../shared/contract/worker-logs.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import type { FollowOptions } from "../../../shared/client.js";
import { connect } from "../../client/connection.js";
import { followUntilInterrupted } from "../../client/reconnecting-stream.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { timeOption } from "../../command/time-option.js";
import { hasSeveralInstances, instanceOption, warnOfMissing } from "../../command/instance-option.js";
import { noMatchingEntries } from "../../output/no-matching-entries.js";
import { entryDocument, entryForPipe, entryForTerminal } from "./log-line.js";

interface Options {
  readonly follow?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly level?: LogLevel;
  readonly source?: LogSource;
  readonly status?: string;
  readonly requestId?: string;
  readonly grep?: string;
  readonly limit?: string;
  readonly instance?: string;
}

export const command = defineCommand<[references: string[]], Options>({
  arguments: [{ syntax: "[name[@version]...]", description: "The workers, such as @team/app, or one version; default: all workers" }],
  options: [
    { flags: "-f, --follow", description: "Stream new entries until Ctrl-C" },
    { flags: "--since <time>", description: "Only entries after this time: 10m, 2h, 1d, or 2026-01-31T08:00:00Z" },
    { flags: "--until <time>", description: "Only entries before this time" },
    { flags: "--level <level>", description: "Only entries of this level and above", choices: logLevels },
    { flags: "--source <source>", description: "Only entries of this source", choices: logSources },
    { flags: "--status <status>", description: "Only requests with this status, such as 404, or class, such as 5xx" },
    { flags: "--request-id <id>", description: "Only the request with this X-Request-Id" },
    { flags: "--grep <text>", description: "Only entries that contain this text (not case-sensitive)" },
    instanceOption,
    { flags: "--limit <count>", description: "Show the newest N entries (1 to 10000, default 1000)" },
  ],
  examples: [
    ["runtimectl workers logs @team/app", "show the newest entries"],
    ["runtimectl workers logs @team/app -f --level warn", "stream warnings and errors"],
    ["runtimectl workers logs @team/app@1.2.0 --since 10m --grep timeout", "search the last 10 minutes of one version"],
    ["runtimectl workers logs @team/app --since 2h --until 1h", "show one past hour"],
    ["runtimectl workers logs --status 5xx -f", "stream the failed requests of all workers"],
    ["runtimectl workers logs @team/app -f --json | jq .text", "print one JSON document per line"],
  ],
  notes:
    "Columns in a pipe: time, level, version, source and text, separated by tabs. Further lines of an entry have empty first columns.\n" +
    "With several workers or none, NAME@VERSION takes the place of the version. With several daemons, the name of the daemon precedes the text.\n" +
    "Entries with the source request are served requests: method, path, status and milliseconds; --json also has bytes and client.\n" +
    "Entries with the source runtime come from the daemon, such as the start, the end and the backoff of a worker.\n" +
    "-f reconnects after a lost connection or a daemon restart.",
  async run(context, [references], options) {
    if (options.follow && options.until !== undefined) throw usageError("--follow and --until cannot be used together");
    const [since, until] = [timeOption("--since", options.since), timeOption("--until", options.until)];
    const { level, source, requestId } = options;
    const instance = options.instance === "" ? undefined : options.instance;
    const filters = { ...statusQuery(options), ...textQuery(options), ...limitQuery(options) };
    const query = { level, source, requestId, since, until, instance, ...filters };
    const hasInstances = hasSeveralInstances(instance);
    const { name, version, read, follow } = await openLogs(context, references, query);
    if (options.follow)
      return followUntilInterrupted(
        context,
        shower(context, { isOneWorker: name !== undefined, isOneVersion: version !== undefined, hasInstances }),
        follow,
      );
    const { entries, hasMore, instances = [] } = await read();
    const isShared = instances.length > 1;
    warnOfMissing(context.output, "entries", instances);
    if (context.output.isJson) {
      const named = { ...(name !== undefined && { name }), entries: entries.map(entryDocument), hasMore };
      return context.output.result({ ...named, ...(isShared && { instances }) });
    }
    const isOneVersion = new Set(entries.map((entry) => entry.version)).size < 2;
    const show = shower(context, { isOneWorker: name !== undefined, isOneVersion, hasInstances: isShared });
    for (const entry of entries) show(entry);
    if (entries.length === 0) context.output.note(whyEmpty(options, name ?? "a worker"));
    if (hasMore) context.output.footer("more entries match; raise --limit, or filter with --since, --until, --level, --status or --grep");
  },
});

/** The log filters of the command line as query parameters of the API. */
type Query = Pick<LogFilter, "level" | "source" | "status" | "requestId" | "text"> & {
  readonly limit?: number;
  readonly instance: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
};

/**
 * Returns functions that read and follow logs: of one worker or version, or of several or all workers. `name` and `version` are set only
 * for a single worker.
 */
async function openLogs(context: Context, references: readonly string[], query: Query) {
  const parsed = references.map(parsePackageReference);
  const { client } = await connect(context, { workers: { logs }, logs: { list } });
  const [one] = parsed;
  if (one !== undefined && parsed.length === 1) {
    const input = { params: toPathSegments(one.name), query: { ...query, version: one.version } };
    const follow = (from: FollowOptions) => client.workers.logs.follow(input, from);
    return { ...one, read: () => client.workers.logs(input), follow };
  }
  if (parsed.some(({ version }) => version !== undefined))
    throw usageError("a version can be selected only if the command names exactly one worker", "runtimectl workers logs NAME@VERSION");
  const worker = parsed.length === 0 ? undefined : parsed.map(({ name }) => name).join(",");
  const input = { query: { ...query, worker } };
  return {
    name: undefined,
    version: undefined,
    read: () => client.logs.list(input),
    follow: (from: FollowOptions) => client.logs.list.follow(input, from),
  };
}

interface Shown {
  readonly isOneWorker: boolean;
  readonly isOneVersion: boolean;
  /** Whether the output can contain entries of several daemons. */
  readonly hasInstances: boolean;
}

function shower({ output, terminal }: Context, { isOneWorker, isOneVersion, hasInstances }: Shown): (entry: LogEntry) => void {
  return (listed) => {
    const { instance: _instance, ...rest } = listed;
    const entry: LogEntry = hasInstances ? listed : rest;
    const version = isOneWorker ? entry.version : `${entry.worker}@${entry.version}`;
    const shown = isOneWorker && isOneVersion ? undefined : version;
    output.line(
      entryDocument(listed),
      terminal.stdoutIsTty ? entryForTerminal(entry, terminal, shown) : entryForPipe({ ...entry, version }),
    );
  };
}

function statusQuery({ status }: Options): { status?: string } {
  if (status === undefined) return {};
  if (!/^[1-5](?:xx|\d\d)$/.test(status))
    throw usageError(`--status ${JSON.stringify(status)} is neither an HTTP status nor a class of statuses`, "use 404 or 5xx");
  return { status };
}

function textQuery({ grep }: Options): { text?: string } {
  if (grep === undefined || grep === "") return {};
  if (grep.length > 200) throw usageError("--grep accepts at most 200 characters");
  return { text: grep };
}

function limitQuery({ limit }: Options): { limit?: number } {
  if (limit === undefined) return {};
  const count = /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > 10_000)
    throw usageError(`--limit ${JSON.stringify(limit)} is not a valid number of entries`, "use a whole number from 1 to 10000");
  return { limit: count };
}

function whyEmpty({ since, until, level, source, status, requestId, grep }: Options, name: string): string {
  const filters = {
    "--since": since,
    "--until": until,
    "--level": level,
    "--source": source,
    "--status": status,
    "--request-id": requestId,
    "--grep": grep,
  };
  const reason = noMatchingEntries(filters);
  return (
    reason ?? `no entries: the log contains the requests of ${name} and what it writes with console.log(); to wait for entries, use -f`
  );
}
