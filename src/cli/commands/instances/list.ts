import { list, type Instance } from "../../../shared/contract/instances.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";

const headings = ["NAME", "ADDRESS", "VERSION", "STATE", "LAG", "ISOLATES", "PROBLEM"];

export const command = defineCommand<[]>({
  fields: ["name", "id", "address", "version", "isSelf", "state", "lagSeconds", "isolates", "requestsInFlight", "problem"],
  examples: [
    ["runtimectl instances list", "the daemons with the same primary; * responds"],
    ["runtimectl instances list --json | jq -r '.instances[] | select(.state != \"ready\").name'", "those that are not ready"],
  ],
  notes:
    "A daemon without a primary lists only itself. A stopped daemon is listed as gone for 1 day. Address and lag need a key for all namespaces.",
  async run(context) {
    const { client } = await connect(context, { instances: { list } });
    const instances = await client.instances.list();
    context.output.table({ instances }, headings, instances.map(rowOf));
    const readyCount = instances.filter(({ state }) => state === "ready").length;
    context.output.footer(`${readyCount} of ${pluralize(instances.length, "daemon")} ready`);
  },
});

function rowOf({ name, isSelf, address, version, state, lagSeconds, isolates, problem }: Instance): string[] {
  const lag = lagSeconds === null ? "-" : `${lagSeconds.toFixed(1)} s`;
  return [isSelf ? `${name} *` : name, address ?? "-", version, state, lag, isolates === null ? "-" : String(isolates), problem ?? ""];
}
