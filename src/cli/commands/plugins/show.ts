import { list, loaded } from "../../../shared/contract/plugins.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { parsePluginName } from "../../command/package-reference.js";
import { pluginSourceText } from "../../../shared/plugin-source.js";

/** The fields of an installed plugin in JSON documents. */
export const pluginFields = ["name", "version", "status", "enabled", "source", "local", "error", "path", "removable", "health"] as const;

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The plugin, such as @team/guard" }],
  fields: [...pluginFields, "base", "dependencies", "optionalDependencies", "menus", "hookPosition"],
  examples: [
    ["runtimectl plugins show @team/guard", "show state, error, base, dependencies and menus"],
    ["runtimectl plugins show @team/guard --json | jq -r .status", "print only the state"],
  ],
  notes: "Base, dependencies and menus are shown only for a loaded plugin.",
  async run(context, [text]) {
    const name = parsePluginName(text);
    const { client } = await connect(context, { plugins: { list, loaded } });
    const [plugins, atWork] = await Promise.all([client.plugins.list(), client.plugins.loaded()]);
    const plugin = plugins.find((installed) => installed.name === name);
    if (plugin === undefined)
      throw new CommandError("PLUGIN_NOT_FOUND", `no plugin named ${name} is installed`, {
        exitCode: exitCodes.notFound,
        hint: "runtimectl plugins list",
      });
    const place = atWork.findIndex((running) => running.name === name);
    const { base, dependencies, optionalDependencies, menus } = atWork[place] ?? {};
    const document = {
      ...plugin,
      base: base ?? null,
      dependencies: dependencies ?? [],
      optionalDependencies: optionalDependencies ?? [],
      menus: menus ?? [],
      hookPosition: place === -1 ? null : place + 1,
    };
    context.output.facts(document, [
      ["plugin", name],
      ["version", plugin.version],
      ["state", plugin.status],
      ["error", plugin.error],
      ["source", pluginSourceText(plugin)],
      ["folder", plugin.path],
      ["base", base === "" ? "none (only hooks)" : base],
      ["depends on", dependencies?.join(" ") || undefined],
      ["optional", optionalDependencies?.length ? optionalDependencies.join(" ") : undefined],
      ["hooks", place === -1 ? undefined : `position ${place + 1} of ${atWork.length}`],
      ...(menus ?? []).map(({ title, path }): [string, string] => ["menu", `${title}  ${path}`]),
    ]);
  },
});
