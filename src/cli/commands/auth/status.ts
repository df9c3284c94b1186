import { show } from "../../../shared/contract/session.js";
import { defineCommand } from "../../command/command.js";
import { connectAnonymously } from "../../client/connection.js";
import { endOn, timeFields } from "../../output/format.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { resolveSettings } from "../../config/settings.js";

export const command = defineCommand<[]>({
  fields: ["profile", "url", "key", "timeoutMs", "principal"],
  examples: [
    ["runtimectl auth status", "show the principal and the source of each setting"],
    ["runtimectl auth status --json", "the same as a JSON document"],
  ],
  notes: "Exits with 4 if there is no key or the daemon rejects the key.",
  async run(context) {
    const settings = await resolveSettings(context);
    const { key, profile, origin } = settings;
    if (key === undefined)
      throw new CommandError("NOT_SIGNED_IN", settings.keyWithheld ?? `no key is configured for ${origin.value} (${origin.source})`, {
        exitCode: exitCodes.notAuthenticated,
        hint: "runtimectl auth login",
      });
    const { client } = await connectAnonymously(context, { session: { show } }, settings);
    const { principal } = await client.session.show();
    const { expiresAt, ...shown } = principal;
    context.output.facts(
      {
        profile: profile
          ? { name: profile.value, source: profile.source, production: settings.isProduction, readonly: settings.isReadOnly }
          : null,
        url: origin,
        key: { source: key.source },
        timeoutMs: settings.timeout,
        principal: { ...shown, ...timeFields("expiresAt", expiresAt) },
      },
      [
        ["daemon", `${origin.value}  (${origin.source})`],
        [
          "profile",
          profile
            ? `${profile.value}${settings.isProduction ? " PRODUCTION" : ""}${settings.isReadOnly ? " read-only" : ""}  (${profile.source})`
            : "none",
        ],
        ["key", `${principal.keyPrefix}…  (${key.source})`],
        ["signed in", `${principal.name}, ${principal.role}`],
        ["namespaces", principal.namespaces.join(" ")],
        ["permissions", principal.permissions.join(" ")],
        ["key expires", expiresAt === undefined ? "never" : endOn(expiresAt, Date.now())],
      ],
    );
  },
});
