import path from "node:path";
import type { Context, OptionDefinition } from "../../command/command.js";
import type { Profile } from "../../config/config-file.js";
import { parseOrigin } from "../../config/settings.js";

export interface ProfileOptions {
  readonly production?: boolean;
  readonly readonly?: boolean;
}

export const profileOptions: readonly OptionDefinition[] = [
  { flags: "--production", description: "Destructive commands need the profile's name" },
  { flags: "--no-production", description: "They need it no more" },
  { flags: "--readonly", description: "Commands that change something are refused" },
  { flags: "--no-readonly", description: "They are allowed again" },
];

export const profileFields = ["name", "url", "cacert", "production", "readonly"] as const;

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
