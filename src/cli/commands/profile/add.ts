import path from "node:path";
import { defineCommand } from "../../command.js";
import { usageError } from "../../command-error.js";
import { configDirectory } from "../../config-directory.js";
import { ConfigFile } from "../../config-file.js";
import { profileName } from "../../profile-name.js";
import { parseOrigin } from "../../settings.js";

interface Options {
  readonly production?: boolean;
}

export const command = defineCommand<[name: string], Options>({
  arguments: [{ syntax: "<name>", description: "The profile" }],
  options: [{ flags: "--production", description: "Destructive commands need the profile's name" }],
  examples: [
    ["runtimectl profile add home --url https://rt.example.org", "a daemon under a name"],
    ["runtimectl profile add prod --url https://rt.example.com --cacert ca.pem --production", "with a private authority, marked"],
  ],
  notes: "Changes an existing profile of that name. Its key is added with: runtimectl auth login --profile <name>.",
  async run(context, [name], options) {
    const { flags } = context;
    const config = ConfigFile.open(configDirectory(context.environment));
    const url = flags.url === undefined ? config.profiles.get(profileName(name))?.url : parseOrigin(flags.url, "--url");
    if (url === undefined) throw usageError("a new profile needs a daemon", `runtimectl profile add ${name} --url https://rt.example.org`);
    const cacert = flags.cacert === undefined ? {} : { cacert: path.resolve(context.workingDirectory, flags.cacert) };
    config.setProfile(name, { url, ...cacert, ...(options.production ? { production: true } : {}) });
    await config.save();
    context.output.note(`profile ${name} is kept in ${config.file}`);
    context.output.result({ name, url, ...cacert, production: options.production ?? config.profiles.get(name)?.production ?? false });
  },
});
