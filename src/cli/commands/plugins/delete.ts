import { remove } from "../../../shared/contract/plugins.js";
import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";
import { parsePluginName } from "../../package-reference.js";
import { confirmDestruction } from "../../prompts.js";

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The plugin, such as @team/guard" }],
  examples: [
    ["runtimectl plugins delete @team/guard", "delete it, after its name is typed"],
    ["runtimectl plugins delete @team/guard --yes", "unasked"],
    ["runtimectl plugins delete @team/guard --confirm prod", "the same on the production profile prod"],
  ],
  notes:
    "Cannot be undone. To take a plugin out of service and keep it, use runtimectl plugins disable.\n" +
    "Of a built-in plugin it deletes the settings that were uploaded; the plugin is as it was shipped again.",
  async run(context, [text]) {
    const name = parsePluginName(text);
    const { client, settings } = await connect(context, { plugins: { remove } });
    await confirmDestruction(context, { consequence: `Delete the plugin ${name}`, name, settings });
    await client.plugins.remove({ params: { name } });
    context.output.note(`deleted ${name}`);
    context.output.result({ name, deleted: true });
  },
});
