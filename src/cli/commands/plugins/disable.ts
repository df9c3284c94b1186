import { defineCommand } from "../../command/command.js";
import { togglePlugin } from "./plugin-state.js";

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The plugin, such as @team/guard" }],
  fields: ["name", "enabled", "status", "error"],
  examples: [["runtimectl plugins disable @team/guard", "disable a plugin without deleting it"]],
  run: (context, [name]) => togglePlugin(context, name, "disable"),
});
