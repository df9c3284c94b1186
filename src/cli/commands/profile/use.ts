import { defineCommand } from "../../command/command.js";
import { ConfigFile } from "../../config/config-file.js";
import { existingProfile } from "./profile-options.js";

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The profile" }],
  fields: ["current", "url"],
  examples: [["runtimectl profile use prod", "use prod for the next commands"]],
  async run(context, [name]) {
    const config = ConfigFile.open(context.directories.config);
    const profile = existingProfile(config, name);
    config.setCurrent(name);
    await config.save();
    context.output.note(`profile ${name} (${profile.url}) is now the current profile`);
    context.output.result({ current: name, url: profile.url });
  },
});
