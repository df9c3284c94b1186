import { defineCommand } from "../../command/command.js";
import { toggleVersion } from "./toggle-version.js";

export const command = defineCommand<[reference: string]>({
  arguments: [{ syntax: "<name@version>", description: "The version, such as @team/app@1.2.0" }],
  fields: ["name", "version", "enabled"],
  examples: [["runtimectl workers enable @team/app@1.2.0", "enable this version"]],
  notes: "Then the command requests the version and warns if it is not served. The version stays enabled.",
  run: (context, [reference]) => toggleVersion(context, reference, "enable"),
});
