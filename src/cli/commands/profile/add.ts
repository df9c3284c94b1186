import { defineCommand } from "../../command/command.js";
import { usageError } from "../../command/command-error.js";
import { ConfigFile } from "../../config/config-file.js";
import { profileName } from "../../config/profile-name.js";
import { givenSettings, profileDocument, profileFields, profileOptions, type ProfileOptions } from "./profile-options.js";

export const command = defineCommand<[name: string], ProfileOptions>({
  arguments: [{ syntax: "<name>", description: "The profile" }],
  options: profileOptions,
  fields: profileFields,
  examples: [
    ["runtimectl profile add home --url https://rt.example.org", "add a profile for a daemon"],
    [
      "runtimectl profile add prod --url https://rt.example.com --cacert ca.pem --production",
      "add a production profile with a private certificate authority",
    ],
  ],
  notes: "If the profile exists, the command changes it. To add its key: runtimectl auth login --profile <name>.",
  async run(context, [name], options) {
    const config = ConfigFile.open(context.directories.config);
    const before = config.profiles.get(profileName(name));
    const given = givenSettings(context, options);
    const url = given.url ?? before?.url;
    if (url === undefined)
      throw usageError("a new profile needs the URL of a daemon", `runtimectl profile add ${name} --url https://rt.example.org`);
    config.setProfile(name, { ...given, url });
    await config.save();
    context.output.note(before ? `changed the existing profile ${name} in ${config.file}` : `added profile ${name} in ${config.file}`);
    if (before && before.url !== url) context.output.note(`its URL was ${before.url}`);
    context.output.result(profileDocument(name, { ...before, ...given, url }));
  },
});
