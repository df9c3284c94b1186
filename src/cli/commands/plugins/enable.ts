import { defineCommand } from "../../command/command.js";
import { togglePlugin } from "./plugin-state.js";

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The plugin, such as @team/guard" }],
  fields: ["name", "enabled", "status", "error"],
  examples: [
    ["runtimectl plugins enable @team/guard", "enable a plugin"],
    ["runtimectl plugins enable plugin-gateway", "enable a built-in plugin"],
  ],
  notes:
    "Writes `enabled: true` to the plugin's manifest, or for a built-in plugin to an override manifest. Exits with 1 if the plugin fails to load.",
  run: (context, [name]) => togglePlugin(context, name, "enable"),
});
