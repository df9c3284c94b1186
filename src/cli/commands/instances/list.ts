import { list, type Instance } from "../../../shared/contract/instances.js";
import { instanceLabel, readyCount } from "../../../shared/instance-list.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";
import { lagText, markedName } from "../../output/instance-texts.js";

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
    context.output.table(
      { instances },
      headings,
      instances.map((instance) => rowOf(instance, instances)),
    );
    context.output.footer(`${readyCount(instances)} of ${pluralize(instances.length, "daemon")} ready`);
  },
});

/** Returns the cells of a daemon. Adds the id to a name that does not identify the daemon. */
function rowOf(instance: Instance, all: readonly Instance[]): string[] {
  const { name, id, isSelf, address, version, state, isolates, problem } = instance;
  const isolateCount = isolates === null ? "-" : String(isolates);
  const label = instanceLabel(instance, all) === name ? name : `${name} ${id}`;
  return [markedName({ name: label, isSelf }), address ?? "-", version, state, lagText(instance), isolateCount, problem ?? ""];
}
