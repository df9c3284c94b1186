import { show } from "../../shared/contract/session.js";
import type { Principal } from "../../shared/contract/principal.js";
import type { Context } from "../command/command.js";
import type { ConfigFile, Profile } from "./config-file.js";
import { connectAnonymously } from "../client/connection.js";
import type { CredentialsFile } from "./credentials-file.js";
import type { Settings } from "./settings.js";

/** An API key that the daemon has accepted. */
export interface VerifiedKey {
  readonly key: string;
  readonly principal: Principal;
  /** The API path that the daemon announced, such as `/api`. */
  readonly api: string;
}

interface KeptKey {
  readonly config: ConfigFile;
  readonly credentials: CredentialsFile;
  /** Name of the profile in which the key is stored. */
  readonly name: string;
  readonly profile: Omit<Profile, "url">;
  readonly settings: Settings;
}

/**
 * Sends an API key to the daemon and returns the key's principal. Throws AUTH_REQUIRED if the daemon rejects the key. `source` names the
 * source of the key in error messages.
 */
export async function verifyKey(context: Context, settings: Settings, key: string, source: string): Promise<VerifiedKey> {
  const asGiven = { ...settings, key: { value: key, source }, apiBase: undefined };
  const { client, discover } = await connectAnonymously(context, { session: { show } }, asGiven);
  const { principal } = await client.session.show();
  return { key, principal, api: (await discover()).api };
}

/** Stores a verified API key in a profile and makes this profile the current profile. */
export async function keepKey({ key, api }: VerifiedKey, { config, credentials, name, profile, settings }: KeptKey): Promise<void> {
  const origin = settings.origin.value;
  config.setProfile(name, { url: origin, ...profile });
  config.setCurrent(name);
  credentials.set(name, { origin, key, api });
  await credentials.save();
  await config.save();
}
