import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Settings } from "./settings.js";

/** Throws PROFILE_READ_ONLY if the profile is read-only. */
export function refuseReadOnly({ isReadOnly, profile }: Settings): void {
  if (!isReadOnly || profile === undefined) return;
  throw new CommandError("PROFILE_READ_ONLY", `profile ${profile.value} is read-only; nothing was changed`, {
    exitCode: exitCodes.forbidden,
    hint: `use another profile with --profile, or allow changes: runtimectl profile set ${profile.value} --no-readonly`,
  });
}
