import { defineCommand } from "../../command/command.js";
import { ConfigFile } from "../../config/config-file.js";
import { CredentialsFile } from "../../config/credentials-file.js";
import { usageError } from "../../command/command-error.js";
import { existingProfile, profileDocument, profileFields } from "./profile-options.js";

export const command = defineCommand<[name: string | undefined]>({
  arguments: [{ syntax: "[name]", description: "The profile (default: the current one)" }],
  fields: [...profileFields, "current", "hasKey"],
  examples: [
    ["runtimectl profile show", "show the current profile"],
    ["runtimectl profile show prod --json=url", "show one setting of another profile"],
  ],
  notes: "To see which profile and key a command uses, and why: runtimectl auth status.",
  async run(context, [given]) {
    const directory = context.directories.config;
    const config = ConfigFile.open(directory);
    const name = given ?? context.flags.profile ?? config.current;
    if (name === undefined)
      throw usageError("no profile is selected", "select a profile with --profile; to list all: runtimectl profile list");
    const profile = existingProfile(config, name);
    const hasKey = CredentialsFile.open(directory).get(name) !== undefined;
    context.output.facts({ ...profileDocument(name, profile), current: name === config.current, hasKey }, [
      ["profile", `${name}${name === config.current ? " (current)" : ""}`],
      ["daemon", profile.url],
      ["authorities", profile.cacert ?? "default"],
      ["production", profile.production ? "yes" : "no"],
      ["read-only", profile.readonly ? "yes" : "no"],
      ["key", hasKey ? "stored" : "none"],
    ]);
  },
});
