import { logLevels, logs, type LogEntry, type LogLevel } from "../../../shared/contract/worker-logs.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { followUntilInterrupted } from "../../client/reconnecting-stream.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { timeOption } from "../../command/time-option.js";
import { entryDocument, entryForPipe, entryForTerminal } from "./log-line.js";

interface Options {
  readonly follow?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly level?: LogLevel;
  readonly grep?: string;
  readonly limit?: string;
}

export const command = defineCommand<[reference: string], Options>({
  arguments: [{ syntax: "<name[@version]>", description: "The worker, such as @team/app, or one version of it" }],
  options: [
    { flags: "-f, --follow", description: "Stream new entries until Ctrl-C" },
    { flags: "--since <time>", description: "Only entries after this time: 10m, 2h, 1d, or 2026-01-31T08:00:00Z" },
    { flags: "--until <time>", description: "Only entries before this time" },
    { flags: "--level <level>", description: "Only entries of this level and above", choices: logLevels },
    { flags: "--grep <text>", description: "Only entries that contain this text (not case-sensitive)" },
    { flags: "--limit <count>", description: "Show the newest N entries (1 to 10000, default 1000)" },
  ],
  examples: [
    ["runtimectl workers logs @team/app", "show the newest entries"],
    ["runtimectl workers logs @team/app -f --level warn", "stream warnings and errors"],
    ["runtimectl workers logs @team/app@1.2.0 --since 10m --grep timeout", "search the last 10 minutes of one version"],
    ["runtimectl workers logs @team/app --since 2h --until 1h", "show one past hour"],
    ["runtimectl workers logs @team/app -f --json | jq .text", "print one JSON document per line"],
  ],
  notes:
    "Columns in a pipe: time, level, version, source and text, separated by tabs. Further lines of an entry have empty first columns.\n" +
    "Entries with the source runtime come from the daemon, such as the start, the end and the backoff of a worker.\n" +
    "-f reconnects after a lost connection or a daemon restart.",
  async run(context, [reference], options) {
    const { name, version } = parsePackageReference(reference);
    if (options.follow && options.until !== undefined) throw usageError("--follow and --until cannot be used together");
    const [since, until] = [timeOption("--since", options.since), timeOption("--until", options.until)];
    const query = { version, level: options.level, since, until, ...textQuery(options), ...limitQuery(options) };
    const { client } = await connect(context, { workers: { logs } });
    const input = { params: toPathSegments(name), query };
    if (options.follow) {
      return followUntilInterrupted(context, shower(context, version === undefined), (from) => client.workers.logs.follow(input, from));
    }
    const { entries, hasMore } = await client.workers.logs(input);
    if (context.output.isJson) return context.output.result({ name, entries: entries.map(entryDocument), hasMore });
    const show = shower(context, new Set(entries.map((entry) => entry.version)).size > 1);
    for (const entry of entries) show(entry);
    if (entries.length === 0) context.output.note(whyEmpty(options, name));
    if (hasMore) context.output.footer("more entries match; raise --limit, or filter with --since, --until, --level or --grep");
  },
});

function shower({ output, terminal }: Context, showVersion: boolean): (entry: LogEntry) => void {
  return (entry) =>
    output.line(entryDocument(entry), terminal.stdoutIsTty ? entryForTerminal(entry, terminal, showVersion) : entryForPipe(entry));
}

function textQuery({ grep }: Options): { text?: string } {
  if (grep === undefined || grep === "") return {};
  if (grep.length > 200) throw usageError("--grep accepts at most 200 characters");
  return { text: grep };
}

function limitQuery({ limit }: Options): { limit?: number } {
  if (limit === undefined) return {};
  const count = /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > 10_000) throw usageError(`--limit ${JSON.stringify(limit)} is not valid`, "use a whole number from 1 to 10000");
  return { limit: count };
}

function whyEmpty({ since, until, level, grep }: Options, name: string): string {
  if (since !== undefined || until !== undefined || level !== undefined || grep !== undefined)
    return "no matching entries; try without --since, --until, --level and --grep";
  return `no entries since the daemon started: the log contains what ${name} writes with console.log(); to wait for entries, use -f`;
}
