import { drain, undrain } from "../../../shared/contract/instances.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";

interface Options {
  readonly undo?: boolean;
}

export const command = defineCommand<[name: string], Options>({
  arguments: [{ syntax: "<name>", description: "Name or id of the daemon in runtimectl instances list" }],
  options: [{ flags: "--undo", description: "End the drain" }],
  fields: ["name", "id", "draining"],
  examples: [
    ["runtimectl instances drain eu-1", "before the daemon eu-1 is upgraded"],
    ["runtimectl instances drain eu-1 --undo", "let it report again that it is ready"],
  ],
  notes:
    "The readiness check of the daemon then fails with 503, so that proxies send it no requests, and it takes no cron jobs. It still serves the requests that it receives. The drain ends with the next start of the daemon.",
  async run(context, [instance], { undo = false }) {
    const { client } = await connect(context, { instances: { drain, undrain } });
    const { data } = await client.instances[undo ? "undrain" : "drain"]({ params: { instance } });
    context.output.note(undo ? `${data.name} reports that it is ready` : `${data.name} reports that it is not ready, and still serves`);
    if (!undo) context.output.undo(`runtimectl instances drain ${data.id} --undo`);
    context.output.result(data);
  },
});
