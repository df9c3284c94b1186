import { defineCommand } from "../../command/command.js";
import { usageError } from "../../command/command-error.js";
import { ConfigFile } from "../../config/config-file.js";
import { existingProfile, givenSettings, profileDocument, profileFields, profileOptions, type ProfileOptions } from "./profile-options.js";

export const command = defineCommand<[name: string], ProfileOptions>({
  arguments: [{ syntax: "<name>", description: "The profile" }],
  options: profileOptions,
  fields: profileFields,
  examples: [
    ["runtimectl profile set prod --readonly", "prevent changes through this profile"],
    ["runtimectl profile set home --url https://rt2.example.org", "change the daemon's URL; then sign in again"],
  ],
  notes: "Other settings stay the same. A key is stored for one origin: after a change of --url, run runtimectl auth login.",
  async run(context, [name], options) {
    const config = ConfigFile.open(context.directories.config);
    const before = existingProfile(config, name);
    const given = givenSettings(context, options);
    if (Object.keys(given).length === 0)
      throw usageError(
        "profile set needs at least one setting to change",
        `use --url, --cacert, ${profileOptions.map(({ flags }) => flags).join(", ")}`,
      );
    const after = { ...before, ...given };
    config.setProfile(name, after);
    await config.save();
    context.output.note(`saved profile ${name} in ${config.file}`);
    context.output.result(profileDocument(name, after));
  },
});
