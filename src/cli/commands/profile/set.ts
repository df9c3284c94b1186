import { defineCommand } from "../../command/command.js";
import { usageError } from "../../command/command-error.js";
import { ConfigFile } from "../../config/config-file.js";
import { existingProfile, givenSettings, profileDocument, profileFields, profileOptions, type ProfileOptions } from "./profile-options.js";

export const command = defineCommand<[name: string], ProfileOptions>({
  arguments: [{ syntax: "<name>", description: "The profile" }],
  options: profileOptions,
  fields: profileFields,
  examples: [
    ["runtimectl profile set prod --readonly", "look, and change nothing by mistake"],
    ["runtimectl profile set home --url https://rt2.example.org", "the daemon has moved; sign in there again"],
  ],
  notes: "What is not mentioned stays as it is. A key is for one origin: after a change of --url, use runtimectl auth login.",
  async run(context, [name], options) {
    const config = ConfigFile.open(context.directories.config);
    const before = existingProfile(config, name);
    const given = givenSettings(context, options);
    if (Object.keys(given).length === 0)
      throw usageError("nothing to set", `use --url, --cacert, ${profileOptions.map(({ flags }) => flags).join(", ")}`);
    const after = { ...before, ...given };
    config.setProfile(name, after);
    await config.save();
    context.output.note(`profile ${name} is kept in ${config.file}`);
    context.output.result(profileDocument(name, after));
  },
});
