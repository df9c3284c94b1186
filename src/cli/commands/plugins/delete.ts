import { ApiError } from "../../../shared/api-error.js";
import { list, remove } from "../../../shared/contract/plugins.js";
import { pluginRemovalText } from "../../../shared/plugin-source.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { runBatch } from "../../command/run-batch.js";
import { defineCommand } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";
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
    const connection = await connect(context, { plugins: { list, remove } });
    const { client, settings } = connection;
    const builtIn = await builtInNames(connection);
    await confirmDestruction(context, {
      consequence: `Delete ${names.map((name) => pluginRemovalText({ source: builtIn.has(name) ? "built-in" : "uploaded" }, name)).join(", ")}`,
      name: names.length === 1 ? (names[0] ?? "") : pluralize(names.length, "plugin"),
      settings,
    });
    await runBatch(context, {
      items: names.map((name) => ({
        name,
        label: name,
        fields: { name },
        doneText: builtIn.has(name) ? `removed your settings of the built-in plugin ${name}, which now has its defaults` : undefined,
      })),
      noun: "plugins",
      done: "deleted",
      act: ({ name }) => client.plugins.remove({ params: { name } }),
    }).catch((error: unknown) => {
      throw withDisableHint(error, names[0] ?? "");
    });
  },
});

/** Returns the names of the built-in plugins. Empty if the key cannot list plugins. */
async function builtInNames({ client }: Connection<{ plugins: { list: typeof list } }>): Promise<ReadonlySet<string>> {
  try {
    return new Set((await client.plugins.list()).flatMap(({ name, source }) => (source === "built-in" ? name : [])));
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return new Set();
    throw error;
  }
}

/** Returns the error. If the daemon cannot delete the plugin because it is built in, adds a hint that names the plugin. */
function withDisableHint(error: unknown, name: string): unknown {
  if (!(error instanceof ApiError) || error.code !== "BUILT_IN_PLUGIN_REMOVE_FORBIDDEN") return error;
  return new CommandError(error.code, error.message, {
    exitCode: exitCodes.forbidden,
    hint: `to disable it: runtimectl plugins disable ${name}`,
    status: error.status,
    requestId: error.requestId,
  });
}
