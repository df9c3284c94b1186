import { remove } from "../../../shared/contract/plugins.js";
import { runBatch } from "../../command/run-batch.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { parsePluginName } from "../../command/package-reference.js";
import { confirmDestruction } from "../../output/prompts.js";

export const command = defineCommand<[names: readonly string[]]>({
  arguments: [{ syntax: "<name...>", description: "The plugins, such as @team/guard" }],
  fields: ["name", "deleted", "error"],
  examples: [
    ["runtimectl plugins delete @team/guard", "delete it, after its name is typed"],
    ["runtimectl plugins delete @team/guard --yes", "unasked"],
    ["runtimectl plugins delete @team/guard --confirm prod", "the same on the production profile prod"],
  ],
  notes:
    "Cannot be undone. To take a plugin out of service and keep it, use runtimectl plugins disable.\n" +
    "When some of several fail, the others are deleted all the same; it ends with 9 then.\n" +
    "Of a built-in plugin it deletes the settings that were uploaded; the plugin is as it was shipped again.",
  async run(context, [texts]) {
    const names = [...new Set(texts.map(parsePluginName))];
    const { client, settings } = await connect(context, { plugins: { remove } });
    await confirmDestruction(context, {
      consequence: `Delete the plugin${names.length === 1 ? "" : "s"} ${names.join(", ")}`,
      name: names.length === 1 ? (names[0] ?? "") : pluralize(names.length, "plugin"),
      settings,
    });
    await runBatch(context, {
      items: names.map((name) => ({ name, label: name, fields: { name } })),
      noun: "plugins",
      done: "deleted",
      act: ({ name }) => client.plugins.remove({ params: { name } }),
    });
  },
});
