import { changeOfPlugin, showOfPlugin } from "../../../shared/contract/configuration.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { configHeadings, fieldChanges, fieldRows, newValues, type ConfigOptions } from "../../config-changes.js";

export const command = defineCommand<[name: string], ConfigOptions>({
  arguments: [{ syntax: "<name>", description: "The plugin, such as plugin-gateway" }],
  options: [
    { flags: "--set <field=value>", description: "Set a setting, such as 'rateLimits=[]'; repeatable", repeatable: true },
    { flags: "--unset <field>", description: "Remove a setting, such as rateLimits; repeatable", repeatable: true },
  ],
  fields: ["name", "etag", "editable", "problem", "fields", "env", "secrets", "yaml", "schema"],
  examples: [
    ["runtimectl plugins config plugin-gateway", "show each setting and where it comes from"],
    ["runtimectl plugins config plugin-gateway --set 'rateLimits=[]'", "change one setting"],
    ["runtimectl plugins config plugin-gateway --unset rateLimits", "use the default again"],
    ["runtimectl plugins config plugin-gateway --json=schema", "show the types, defaults and descriptions of the settings"],
  ],
  notes:
    "The daemon checks a change with configSchema of the plugin, and reloads the plugin. The next upload of the plugin replaces the change.\n" +
    "Values are YAML: 5, true, [a, b]. A change needs a key with plugins:config.",
  async run(context, [name], options) {
    const changes = fieldChanges(options);
    const { client } = await connect(context, { pluginConfig: { show: showOfPlugin, change: changeOfPlugin } });
    const params = { name };
    let config = await client.pluginConfig.show({ params });
    if (changes.length > 0) {
      const set = await newValues(changes);
      config = await client.pluginConfig.change({ params, body: { etag: config.etag, set } });
      context.output.note(`${name} changed: ${Object.keys(set).join(", ")}`);
    }
    context.output.table({ name, ...config }, configHeadings, fieldRows(config.fields));
    if (config.fields.length === 0) context.output.footer(`${name} has no settings`);
    if (config.problem !== undefined) context.output.warn(config.problem);
  },
});
