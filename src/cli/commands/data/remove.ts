import { remove } from "../../../shared/contract/data.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { confirmDestruction } from "../../output/prompts.js";
import { nameArgument, parseWorkerName } from "./worker-name.js";

export const command = defineCommand<[name: string]>({
  arguments: [nameArgument],
  fields: ["worker"],
  examples: [
    ["runtimectl data remove @team/shop", "after its name is typed"],
    ["runtimectl data remove @team/shop --yes", "without confirmation"],
  ],
  notes:
    "Cannot be undone. Running requests are completed first, and later ones wait. The worker then starts with an empty data folder. Deleting a worker does not delete its data folder.",
  async run(context, [worker]) {
    const params = parseWorkerName(worker);
    const { client, settings } = await connect(context, { data: { remove } });
    await confirmDestruction(context, { consequence: `Delete all data of ${worker}`, name: worker, settings });
    await client.data.remove({ params });
    context.output.note(`deleted the data of ${worker}`);
    context.output.result({ worker });
  },
});
