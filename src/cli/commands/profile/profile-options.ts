import path from "node:path";
import type { Context, OptionDefinition } from "../../command/command.js";
import type { Profile, ConfigFile } from "../../config/config-file.js";
import { parseOrigin } from "../../config/settings.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";

export const profileOptions: readonly OptionDefinition[] = [
  { flags: "--production", description: "Destructive commands need the profile's name" },
  { flags: "--no-production", description: "They need it no more" },
  { flags: "--readonly", description: "Commands that change something are refused" },
  { flags: "--no-readonly", description: "They are allowed again" },
];
export const profileFields = ["name", "url", "cacert", "production", "readonly"] as const;

export interface ProfileOptions {
  readonly production?: boolean;
  readonly readonly?: boolean;
}

/** What the command line says about a profile; what it does not mention stays as it is. */
export function givenSettings({ flags, workingDirectory }: Context, { production, readonly }: ProfileOptions): Partial<Profile> {
  return {
    ...(flags.url === undefined ? {} : { url: parseOrigin(flags.url, "--url") }),
    ...(flags.cacert === undefined ? {} : { cacert: path.resolve(workingDirectory, flags.cacert) }),
    ...(production === undefined ? {} : { production }),
    ...(readonly === undefined ? {} : { readonly }),
  };
}

/** A profile as documents show it. */
export function profileDocument(name: string, { url, cacert, production = false, readonly = false }: Profile): object {
  return { name, url, ...(cacert === undefined ? {} : { cacert }), production, readonly };
}

/** The profile of that name; a failure that names the others when there is none. */
export function existingProfile(config: ConfigFile, name: string): Profile {
  const profile = config.profiles.get(name);
  if (profile) return profile;
  const others = [...config.profiles.keys()].join(", ");
  throw new CommandError("PROFILE_NOT_FOUND", `there is no profile ${name}`, {
    exitCode: exitCodes.notFound,
    hint: others === "" ? "make one with: runtimectl auth login" : `there are: ${others}`,
  });
}
