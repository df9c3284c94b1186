import { CommandError } from "../../command/command-error.js";
import type { ConfigFile, Profile } from "../../config/config-file.js";
import { exitCodes } from "../../command/exit-codes.js";

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
