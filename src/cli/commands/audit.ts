import { auditActions, list, type AuditEntry } from "../../shared/contract/audit.js";
import { nounOf } from "../../shared/contract/changes.js";
import { auditCells, auditHeadings, changeDocument, changeLine } from "../output/change-line.js";
import { defineCommand } from "../command/command.js";
import { usageError } from "../command/command-error.js";
import { connect } from "../client/connection.js";
import { exitCodes } from "../command/exit-codes.js";
import { followUntilInterrupted } from "../client/reconnecting-stream.js";
import { localDateTime } from "./workers/log-line.js";
import { hasSeveralInstances, instanceOption, warnOfMissing } from "../command/instance-option.js";
import { noMatchingEntries } from "../output/no-matching-entries.js";
import { timeOption } from "../command/time-option.js";

interface Options {
  readonly follow?: boolean;
  readonly since?: string;
  readonly action?: string;
  readonly principal?: string;
  readonly limit?: string;
  readonly instance?: string;
}

const mostEntries = 1000;

export const command = defineCommand<[], Options>({
  options: [
    { flags: "-f, --follow", description: "Stream new entries until Ctrl-C" },
    { flags: "--since <time>", description: "Only entries after this time: 10m, 2h, 1d, or 2026-01-31T08:00:00Z" },
    {
      flags: "--action <actions>",
      description: "Only these actions, separated by commas, such as key.created, or key for all key actions",
    },
    { flags: "--principal <key>", description: "Only actions of the key with this name or id" },
    instanceOption,
    { flags: "--limit <count>", description: `Show the newest N entries (1 to ${mostEntries}, default 100)` },
  ],
  examples: [
    ["runtimectl audit --since 1h", "changes and rejected attempts of the last hour"],
    ["runtimectl audit --action key,worker.deleted", "key actions and deletions of workers"],
    ["runtimectl audit --principal deployer -f", "stream the actions of a key"],
    ["runtimectl audit --json | jq '.entries[] | select(.outcome != \"done\")'", "failed and rejected attempts"],
  ],
  notes:
    "Requires the permission audit:read (role admin). Columns in a pipe: time, action, outcome, subject, principal, address, request id.\n" +
    "With several daemons, the last column is the name of the daemon.\n" +
    "The address is that of the TCP connection, so behind a proxy it is the proxy. --json also has forwardedFor.",
  async run(context, _values, options) {
    const query = queryOf(options);
    const { client } = await connect(context, { audit: { list } });
    const { output } = context;
    const time = ({ at }: AuditEntry) => (output.isAligned ? localDateTime(new Date(at)) : new Date(at).toISOString());
    if (options.follow) {
      const isShared = hasSeveralInstances(options.instance);
      const show = (entry: AuditEntry) => {
        const cells = [...auditCells(entry, time(entry)), ...(isShared && entry.instance !== undefined ? [entry.instance] : [])];
        output.line(changeDocument(entry), changeLine(cells, output.isAligned));
      };
      return followUntilInterrupted(context, show, (from) => client.audit.list.follow({ query }, from));
    }
    const { entries, hasMore, instances = [] } = await client.audit.list({ query });
    const isShared = instances.length > 1;
    const rows = entries.map((entry) => [...auditCells(entry, time(entry)), ...(isShared ? [entry.instance ?? ""] : [])]);
    const document = { entries: entries.map(changeDocument), hasMore, ...(isShared && { instances }) };
    output.table(document, isShared ? [...auditHeadings, "INSTANCE"] : auditHeadings, rows);
    warnOfMissing(output, "entries", instances);
    const filters = { "--since": options.since, "--action": options.action, "--principal": options.principal };
    if (entries.length === 0) output.note(noMatchingEntries(filters) ?? "no entries");
    if (hasMore) output.footer("more entries match; raise --limit, or filter with --since, --action or --principal");
    return exitCodes.ok;
  },
});

function queryOf({ since, action, principal, limit, instance }: Options) {
  const known = new Set<string>(auditActions.flatMap((one) => [one, nounOf(one)]));
  const unknown = action?.split(",").find((one) => !known.has(one));
  if (unknown !== undefined)
    throw usageError(`--action: ${JSON.stringify(unknown)} is not an action of the audit log`, `use ${[...known].join(", ")}`);
  const count = limit === undefined ? undefined : /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count !== undefined && (count < 1 || count > mostEntries))
    throw usageError(`--limit ${JSON.stringify(limit)} is not a valid number of entries`, `use a whole number from 1 to ${mostEntries}`);
  return {
    since: timeOption("--since", since),
    action,
    principal: principal === "" ? undefined : principal,
    limit: count,
    instance: instance === "" ? undefined : instance,
  };
}
