import { auditActions, list, type AuditEntry } from "../../shared/contract/audit.js";
import { nounOf } from "../../shared/contract/changes.js";
import { auditCells, auditHeadings, changeDocument, changeLine } from "../output/change-line.js";
import { defineCommand } from "../command/command.js";
import { usageError } from "../command/command-error.js";
import { connect } from "../client/connection.js";
import { exitCodes } from "../command/exit-codes.js";
import { followUntilInterrupted } from "../client/reconnecting-stream.js";
import { localDateTime } from "./workers/log-line.js";
import { timeOption } from "../command/time-option.js";

interface Options {
  readonly follow?: boolean;
  readonly since?: string;
  readonly action?: string;
  readonly principal?: string;
  readonly limit?: string;
}

const mostEntries = 1000;

export const command = defineCommand<[], Options>({
  options: [
    { flags: "-f, --follow", description: "Go on with what comes, until Ctrl-C" },
    { flags: "--since <time>", description: "Not older than 10m, 2h, 1d, or a time such as 2026-01-31T08:00:00Z" },
    { flags: "--action <actions>", description: "Such as key.created, or key for all of keys; several between commas" },
    { flags: "--principal <key>", description: "What the key of this name or id did" },
    { flags: "--limit <count>", description: `The newest that many, at most ${mostEntries} (default: 100)` },
  ],
  examples: [
    ["runtimectl audit --since 1h", "who changed what in the last hour, and who was refused"],
    ["runtimectl audit --action key,worker.deleted", "what was done to keys, and which workers were deleted"],
    ["runtimectl audit --principal deployer -f", "what this key does, as it does it"],
    ["runtimectl audit --json | jq '.entries[] | select(.outcome != \"done\")'", "attempts that came to nothing"],
  ],
  notes:
    "Needs audit:read, which the role admin has. Columns in a pipe: time, action, outcome, subject, who, from where, request id.\n" +
    "From where is the address of the connection: behind a proxy the proxy's; --json has forwardedFor too.",
  async run(context, _values, options) {
    const query = queryOf(options);
    const { client } = await connect(context, { audit: { list } });
    const { output } = context;
    const time = ({ at }: AuditEntry) => (output.isAligned ? localDateTime(new Date(at)) : new Date(at).toISOString());
    if (options.follow) {
      const show = (entry: AuditEntry) => output.line(changeDocument(entry), changeLine(auditCells(entry, time(entry)), output.isAligned));
      return followUntilInterrupted(context, show, (from) => client.audit.list.follow({ query }, from));
    }
    const { entries, hasMore } = await client.audit.list({ query });
    const rows = entries.map((entry) => auditCells(entry, time(entry)));
    output.table({ entries: entries.map(changeDocument), hasMore }, auditHeadings, rows);
    if (entries.length === 0) output.note("no entry fits; try without --since, --action and --principal");
    if (hasMore) output.footer("there is more; raise --limit, or narrow it down with --since, --action or --principal");
    return exitCodes.ok;
  },
});

function queryOf({ since, action, principal, limit }: Options) {
  const known = new Set<string>(auditActions.flatMap((one) => [one, nounOf(one)]));
  const unknown = action?.split(",").find((one) => !known.has(one));
  if (unknown !== undefined) throw usageError(`--action ${JSON.stringify(unknown)} is none`, `one of ${[...known].join(", ")}`);
  const count = limit === undefined ? undefined : /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count !== undefined && (count < 1 || count > mostEntries))
    throw usageError(`--limit ${JSON.stringify(limit)} is not accepted`, `it takes a whole number from 1 to ${mostEntries}`);
  return { since: timeOption("--since", since), action, principal: principal === "" ? undefined : principal, limit: count };
}
