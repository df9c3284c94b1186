import path from "node:path";
import type { Context, OptionDefinition } from "../../command/command.js";
import type { Profile, ConfigFile } from "../../config/config-file.js";
import { parseOrigin } from "../../config/settings.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";

export const profileOptions: readonly OptionDefinition[] = [
  { flags: "--production", description: "Require the profile name for destructive commands" },
  { flags: "--no-production", description: "Do not require the profile name" },
  { flags: "--readonly", description: "Reject commands that change data" },
  { flags: "--no-readonly", description: "Allow commands that change data" },
];
export const profileFields = ["name", "url", "cacert", "production", "readonly"] as const;

export interface ProfileOptions {
  readonly production?: boolean;
  readonly readonly?: boolean;
}

/** Returns only those profile settings that the command line contains. */
export function givenSettings({ flags, workingDirectory }: Context, { production, readonly }: ProfileOptions): Partial<Profile> {
  return {
    ...(flags.url === undefined ? {} : { url: parseOrigin(flags.url, "--url") }),
    ...(flags.cacert === undefined ? {} : { cacert: path.resolve(workingDirectory, flags.cacert) }),
    ...(production === undefined ? {} : { production }),
    ...(readonly === undefined ? {} : { readonly }),
  };
}

/** Returns the JSON document of a profile. */
export function profileDocument(name: string, { url, cacert, production = false, readonly = false }: Profile): object {
  return { name, url, ...(cacert === undefined ? {} : { cacert }), production, readonly };
}

/** Returns the profile with this name. Throws PROFILE_NOT_FOUND with the names of the existing profiles. */
export function existingProfile(config: ConfigFile, name: string): Profile {
  const profile = config.profiles.get(name);
  if (profile) return profile;
  const others = [...config.profiles.keys()].join(", ");
  throw new CommandError("PROFILE_NOT_FOUND", `there is no profile ${name}`, {
    exitCode: exitCodes.notFound,
    hint: others === "" ? "to create one: runtimectl auth login" : `existing profiles: ${others}`,
  });
}
