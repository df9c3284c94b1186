import { defineCommand } from "../../command/command.js";
import { toggleVersion } from "./toggle-version.js";

export const command = defineCommand<[reference: string]>({
  arguments: [{ syntax: "<name@version>", description: "The version, such as @team/app@1.2.0" }],
  fields: ["name", "version", "enabled"],
  examples: [["runtimectl workers disable @team/app@1.2.0", "disable this version; the highest enabled version becomes active"]],
  notes: "The version stays installed. Undo: runtimectl workers enable <name@version>.",
  run: (context, [reference]) => toggleVersion(context, reference, "disable"),
});
