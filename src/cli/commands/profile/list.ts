import { defineCommand } from "../../command/command.js";
import { ConfigFile } from "../../config/config-file.js";
import { CredentialsFile } from "../../config/credentials-file.js";

export const command = defineCommand<[]>({
  fields: ["name", "url", "current", "production", "readonly", "hasKey"],
  examples: [["runtimectl profile list", "list the profiles; * marks the current one"]],
  async run(context) {
    const directory = context.directories.config;
    const config = ConfigFile.open(directory);
    const credentials = CredentialsFile.open(directory);
    const profiles = [...config.profiles].map(([name, profile]) => ({
      name,
      url: profile.url,
      current: name === config.current,
      production: profile.production ?? false,
      readonly: profile.readonly ?? false,
      hasKey: credentials.get(name) !== undefined,
    }));
    context.output.table(
      { profiles },
      ["", "NAME", "URL", "KEY", ""],
      profiles.map(({ current, name, url, hasKey, production, readonly }) => [
        current ? "*" : "",
        name,
        url,
        hasKey ? "stored" : "none",
        [...(production ? ["PRODUCTION"] : []), ...(readonly ? ["read-only"] : [])].join(" "),
      ]),
    );
    if (profiles.length === 0) context.output.footer("no profiles; to create one: runtimectl auth login");
  },
});
