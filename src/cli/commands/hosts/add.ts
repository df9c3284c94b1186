import { add, type Host } from "../../../shared/contract/hosts.js";
import { list } from "../../../shared/contract/workers.js";
import { normalHostName } from "../../../shared/host-name.js";
import { isInRange, isVersionRange } from "../../../shared/version-range.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { findVersions, type Listing } from "../workers/installed-worker.js";

const argumentOrder = "runtimectl hosts add HOST WORKER";

interface Options {
  readonly version?: string;
}

export const command = defineCommand<[host: string, worker: string], Options>({
  arguments: [
    { syntax: "<host>", description: "The host name, such as shop.example.org" },
    { syntax: "<worker>", description: "The worker, such as @team/shop" },
  ],
  options: [{ flags: "--version <range>", description: "Serve this version or range in place of the active version" }],
  fields: ["host", "worker", "version", "createdAt", "createdBy"],
  examples: [
    ["runtimectl hosts add shop.example.org @team/shop", "https://shop.example.org/ is the worker from now on"],
    ["runtimectl hosts add old.example.org @team/shop --version ^1", "the newest version 1"],
  ],
  notes:
    "Point the DNS name at the daemon or at its proxy first; runtimectl hosts check HOST tells what is missing.\n" +
    "The worker keeps its path, too. A host name leads to one worker: remove it before another worker gets it.",
  async run(context, [text, worker], { version }) {
    const host = normalHostName(text);
    if (host === undefined) throw usageError(`${JSON.stringify(text)} is not a host name`, hintFor(text));
    const connection = await connect(context, { hosts: { add }, workers: { list } });
    const { data } = await connection.client.hosts.add({ params: { host }, body: { worker, ...(version !== undefined && { version }) } });
    context.output.note(`${data.host} leads to ${data.worker}${data.version === undefined ? "" : `@${data.version}`}`);
    const warning = await warningFor(connection, data);
    if (warning !== undefined) context.output.warn(warning);
    context.output.undo(`runtimectl hosts remove ${data.host}`);
    context.output.result(data);
  },
});

/** Returns the fix for a text that is not a host name: the host name of a URL or of a name with a port, otherwise an example. */
function hintFor(text: string): string {
  if (text.startsWith("@")) return `the order is: ${argumentOrder}`;
  const url = text.includes("://") ? text : `http://${text}`;
  const host = URL.canParse(url) ? normalHostName(new URL(url).hostname) : undefined;
  return host === undefined ? "use a name such as shop.example.org" : `use ${host}`;
}

/** Returns a warning if no version serves the host. Undefined if a version serves it, or if the key cannot list workers. */
async function warningFor(connection: Listing, { host, worker, version: range }: Host): Promise<string | undefined> {
  const versions = await findVersions(connection, worker);
  if (versions?.length === 0) return `no worker named ${worker} is installed; the order is: ${argumentOrder}`;
  if (versions === undefined || versions.some(({ version, enabled }) => enabled && isSelected(version, range))) return undefined;
  const reason = range === undefined ? `no version of ${worker} is enabled` : `no enabled version of ${worker} matches ${range}`;
  return `${reason}, so ${host} responds with 404; for the versions: runtimectl workers show ${worker}`;
}

function isSelected(version: string, range: string | undefined): boolean {
  return range === undefined || version === range || (isVersionRange(range) && isInRange(version, range));
}
