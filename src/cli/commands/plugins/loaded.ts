import { loaded } from "../../../shared/contract/plugins.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";

export const command = defineCommand<[]>({
  fields: ["name", "base", "dependencies", "optionalDependencies", "menus"],
  examples: [
    ["runtimectl plugins loaded", "list the loaded plugins with base, dependencies and menus"],
    ["runtimectl plugins loaded --json | jq -r '.plugins[].name'", "print names in the order of their hooks"],
  ],
  async run(context) {
    const { client } = await connect(context, { plugins: { loaded } });
    const plugins = await client.plugins.loaded();
    const rows = plugins.map(({ name, base, dependencies, optionalDependencies, menus }) => [
      name,
      base,
      [...dependencies, ...optionalDependencies.map((dependency) => `${dependency}?`)].join(" "),
      menus.map(({ title }) => title).join(", "),
    ]);
    context.output.table({ plugins }, ["NAME", "BASE", "DEPENDS ON", "MENUS"], rows);
    context.output.footer(
      rows.length === 0
        ? "no plugin is loaded; to see why: runtimectl plugins list"
        : `${pluralize(rows.length, "plugin")}; hooks run in this order`,
    );
  },
});
