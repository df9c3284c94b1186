import { defineCommand } from "../../command/command.js";
import { togglePlugin } from "./plugin-state.js";

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The plugin, such as @team/guard" }],
  fields: ["name", "enabled", "status", "error"],
  examples: [
    ["runtimectl plugins enable @team/guard", "let it take part again"],
    ["runtimectl plugins enable plugin-gateway", "switch a built-in plugin on"],
  ],
  notes:
    "Writes `enabled: true` to the plugin's manifest, for a built-in plugin to one of your own that is laid over it. Ends with 1 when it could not be loaded.",
  run: (context, [name]) => togglePlugin(context, name, "enable"),
});
