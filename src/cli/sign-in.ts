import { show } from "../shared/contract/session.js";
import type { Principal } from "../shared/contract/principal.js";
import type { Context } from "./command.js";
import type { ConfigFile, Profile } from "./config-file.js";
import { connectAnonymously } from "./connection.js";
import type { CredentialsFile } from "./credentials-file.js";
import type { Settings } from "./settings.js";

interface SignIn {
  readonly config: ConfigFile;
  readonly credentials: CredentialsFile;
  /** The profile to write. */
  readonly name: string;
  readonly profile: Omit<Profile, "url">;
  readonly settings: Settings;
  readonly key: string;
}

/** Who the key is, asked of the daemon, and where its API is. */
export async function verifyKey(context: Context, settings: Settings, key: string): Promise<{ principal: Principal; api: string }> {
  const asGiven = { ...settings, key: { value: key, source: "login" }, apiBase: undefined };
  const { client, discover } = await connectAnonymously(context, { session: { show } }, asGiven);
  const { principal } = await client.session.show();
  return { principal, api: (await discover()).api };
}

/** Checks a key with the daemon; then keeps it, and makes its profile the current one. */
export async function signIn(context: Context, { config, credentials, name, profile, settings, key }: SignIn): Promise<Principal> {
  const { principal, api } = await verifyKey(context, settings, key);
  const origin = settings.origin.value;
  config.setProfile(name, { url: origin, ...profile });
  config.setCurrent(name);
  credentials.set(name, { origin, key, api });
  await credentials.save();
  await config.save();
  return principal;
}
