import { defineCommand } from "../../command/command.js";
import { ConfigFile } from "../../config/config-file.js";
import { CredentialsFile } from "../../config/credentials-file.js";
import { existingProfile } from "./profile-options.js";

export const command = defineCommand<[name: string]>({
  arguments: [{ syntax: "<name>", description: "The profile" }],
  fields: ["name", "removed", "hadKey"],
  examples: [["runtimectl profile rm old", "remove a profile and its stored key"]],
  notes: "The key stays valid. To revoke the key, use runtimectl keys revoke.",
  async run(context, [name]) {
    const directory = context.directories.config;
    const config = ConfigFile.open(directory);
    existingProfile(config, name);
    const credentials = CredentialsFile.open(directory);
    const hadKey = credentials.delete(name);
    // Deletes the stored key before the profile. If deleting the profile fails, the user can repeat the command. In the other order, the
    // key could stay without a profile.
    if (hadKey) await credentials.save();
    config.removeProfile(name);
    await config.save();
    context.output.note(`removed profile ${name}${hadKey ? " and its key" : ""}`);
    context.output.result({ name, removed: true, hadKey });
  },
});
