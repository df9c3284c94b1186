import { list, remove } from "../../../shared/contract/hosts.js";
import { normalHostName } from "../../../shared/host-name.js";
import { connect } from "../../client/connection.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { confirmDestruction } from "../../output/prompts.js";

export const command = defineCommand<[host: string]>({
  arguments: [{ syntax: "<host>", description: "The host name, from runtimectl hosts list" }],
  fields: ["host", "worker"],
  examples: [
    ["runtimectl hosts remove shop.example.org", "after its name is typed"],
    ["runtimectl hosts remove shop.example.org --yes", "without a question"],
  ],
  notes: "The worker stays installed and keeps its path.",
  async run(context, [text]) {
    const connection = await connect(context, { hosts: { list, remove } });
    const host = normalHostName(text) ?? text;
    const found = (await connection.client.hosts.list()).hosts.find((one) => one.host === host);
    if (!found)
      throw new CommandError("HOST_NOT_FOUND", `no worker has the host name ${host}`, {
        exitCode: exitCodes.notFound,
        hint: "runtimectl hosts list",
      });
    await confirmDestruction(context, {
      consequence: `Remove the host name ${host} from ${found.worker}`,
      name: host,
      settings: connection.settings,
    });
    await connection.client.hosts.remove({ params: { host } });
    context.output.note(`${host} leads to no worker any more`);
    context.output.undo(`runtimectl hosts add ${host} ${found.worker}${found.version === undefined ? "" : ` --version ${found.version}`}`);
    context.output.result({ host, worker: found.worker });
  },
});
