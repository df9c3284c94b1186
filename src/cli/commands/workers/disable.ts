import { defineCommand } from "../../command/command.js";
import { toggleVersion } from "./toggle-version.js";

export const command = defineCommand<[reference: string]>({
  arguments: [{ syntax: "<name@version>", description: "The version, such as @team/app@1.2.0" }],
  fields: ["name", "version", "enabled"],
  examples: [["runtimectl workers disable @team/app@1.2.0", "stop serving this version; the next best one answers"]],
  notes: "The version stays installed. Undo: runtimectl workers enable <name@version>.",
  run: (context, [reference]) => toggleVersion(context, reference, "disable"),
});
