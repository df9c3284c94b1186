import { defineCommand } from "../../command/command.js";
import { CredentialsFile } from "../../config/credentials-file.js";
import { usageError } from "../../command/command-error.js";
import { resolveSettings } from "../../config/settings.js";

export const command = defineCommand<[]>({
  fields: ["profile", "removed"],
  examples: [
    ["runtimectl auth logout", "delete the stored key of the current profile"],
    ["runtimectl auth logout --profile prod", "delete the stored key of another profile"],
  ],
  notes: "The key stays valid. To revoke the key, use runtimectl keys revoke.",
  async run(context) {
    const { profile } = await resolveSettings(context);
    if (profile === undefined)
      throw usageError("no profile is selected", "select a profile with --profile; to list all: runtimectl profile list");
    const credentials = CredentialsFile.open(context.directories.config);
    const removed = credentials.delete(profile.value);
    if (removed) await credentials.save();
    context.output.note(removed ? `deleted the stored key of profile ${profile.value}` : `profile ${profile.value} has no stored key`);
    context.output.result({ profile: profile.value, removed });
  },
});
