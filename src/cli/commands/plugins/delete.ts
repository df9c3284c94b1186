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
    ["runtimectl plugins delete @team/guard", "delete a plugin, after you type its name"],
    ["runtimectl plugins delete @team/guard --yes", "delete without confirmation"],
    ["runtimectl plugins delete @team/guard --confirm prod", "the same on the production profile prod"],
  ],
  notes:
    "Cannot be undone. To stop a plugin without deleting it, use runtimectl plugins disable.\n" +
    "If some deletions fail, the others still happen, and the exit code is 9.\n" +
    "For a built-in plugin, the command deletes the uploaded settings, and the plugin uses its defaults again.",
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
