import path from "node:path";
import { text } from "node:stream/consumers";
import { usageError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { ConfigFile } from "../../config/config-file.js";
import { CredentialsFile } from "../../config/credentials-file.js";
import { endOn, timeFields } from "../../output/format.js";
import { profileName } from "../../config/profile-name.js";
import { askSecret } from "../../output/prompts.js";
import { isRejectedKey } from "../../config/rejected-key.js";
import { parseKey, parseOrigin, resolveSettings, type Settings, type ResolvedSetting } from "../../config/settings.js";
import { keepKey, verifyKey, type VerifiedKey } from "../../config/sign-in.js";

const prompt = "the prompt";
const mostAttempts = 3;

interface Options {
  readonly keyStdin?: boolean;
  readonly production?: boolean;
  readonly readonly?: boolean;
  readonly store?: "file" | "none";
}

export const command = defineCommand<[], Options>({
  fields: ["profile", "url", "store", "principal"],
  examples: [
    ["runtimectl auth login", "prompt for the key with hidden input"],
    ["runtimectl auth login --url https://rt.example.org --profile home", "sign in to another daemon in a separate profile"],
    ["pass show runtimed | runtimectl auth login --key-stdin", "read the key from standard input"],
    ["runtimectl auth login --key-file /run/secrets/key", "read the key from a file"],
    ["runtimectl auth login --store none", "check a key without storing it"],
  ],
  options: [
    { flags: "--key-stdin", description: "Read the key from standard input" },
    {
      flags: "--store <where>",
      description: "file stores the key in credentials.json; none only checks the key (default: file)",
      choices: ["file", "none"],
    },
    { flags: "--production", description: "Mark the profile as production: destructive commands require its name" },
    { flags: "--readonly", description: "Mark the profile as read-only: commands that change data are rejected" },
  ],
  notes:
    "The daemon checks the key before runtimectl stores it.\n" +
    "The key is stored in credentials.json, which only you can read, and is sent only to this daemon's origin.\n" +
    "To use a system keyring instead, check the key with --store none and set RUNTIMECTL_KEY or RUNTIMECTL_KEY_FILE for each command.\n" +
    "While one of these variables is set, auth login stores a key only with --key-stdin or --key-file.",
  async run(context, _values, options) {
    const directory = context.directories.config;
    const [config, credentials] = [ConfigFile.open(directory), CredentialsFile.open(directory)];
    const profile = chooseName(context, config);
    const settings = await loginSettings(context, config, profile);
    if (options.store !== "none") refuseVariable(context, settings, options);
    const verified = await signIn(context, settings, options);
    const profileSettings = {
      ...(context.flags.cacert === undefined ? {} : { cacert: path.resolve(context.workingDirectory, context.flags.cacert) }),
      ...(options.production ? { production: true } : {}),
      ...(options.readonly ? { readonly: true } : {}),
    };
    const { principal } = verified;
    const { expiresAt, ...shown } = principal;
    const who = `${principal.name} (${principal.role})${expiresAt === undefined ? "" : `, key expires ${endOn(expiresAt, Date.now())}`}`;
    const document = { url: settings.origin.value, principal: { ...shown, ...timeFields("expiresAt", expiresAt) } };
    if (options.store === "none") {
      context.output.note(`${settings.origin.value} accepts the key of ${who}; the key was not stored`);
      return context.output.result({ profile: null, store: null, ...document });
    }
    await keepKey(verified, { config, credentials, settings, name: profile, profile: profileSettings });
    context.output.note(
      `signed in to ${settings.origin.value} as ${who}\nprofile ${profile} is now the current profile; its key is stored in ${credentials.file}`,
    );
    context.output.result({ profile, store: credentials.file, ...document });
  },
});

/**
 * Returns the name of the profile in which to store the key. In order of priority: the name in the flags, the profile with the same origin,
 * the host name of the origin.
 */
function chooseName({ flags, environment }: Context, config: ConfigFile): string {
  const named = flags.profile ?? environment.RUNTIMECTL_PROFILE;
  if (named !== undefined) return profileName(named);
  const url = flags.url ?? environment.RUNTIMECTL_URL;
  if (url === undefined) return config.current ?? "default";
  const origin = parseOrigin(url, "--url");
  const existing = [...config.profiles].find(([, profile]) => profile.url === origin);
  return existing?.[0] ?? (config.profiles.size === 0 ? "default" : new URL(origin).host.replace(/[^a-z0-9.-]/gi, "-"));
}

/** Returns the settings for the request that verifies the key. The profile does not have to exist yet. */
async function loginSettings(context: Context, config: ConfigFile, profile: string): Promise<Settings> {
  const { profile: _named, ...unnamed } = context.flags;
  const { RUNTIMECTL_PROFILE: _variable, ...environment } = context.environment;
  const flags = config.profiles.has(profile) ? { ...unnamed, profile } : unnamed;
  return resolveSettings({ ...context, flags, environment });
}

/**
 * Throws a usage error if an environment variable contains an API key, because the variable would override the stored key. Throws no error
 * with `--key-stdin` or `--key-file`, with which the user explicitly selects the key to store.
 */
function refuseVariable({ flags, environment }: Context, settings: Settings, { keyStdin = false }: Options): void {
  if (keyStdin || flags.keyFile !== undefined) return;
  const variable = (["RUNTIMECTL_KEY", "RUNTIMECTL_KEY_FILE"] as const).find((name) => environment[name] !== undefined);
  if (variable === undefined) return;
  throw usageError(
    `no key was stored: ${variable} is set, and commands use the key in it for ${settings.origin.value}`,
    `to sign in with another key, unset ${variable}; to store the key in it: ${variable === "RUNTIMECTL_KEY" ? "printenv RUNTIMECTL_KEY | runtimectl auth login --key-stdin" : 'runtimectl auth login --key-file "$RUNTIMECTL_KEY_FILE"'}`,
  );
}

/**
 * Gets a key from a flag, a variable, standard input or a prompt, and verifies the key. After a prompt, asks again if the daemon rejects
 * the key.
 */
async function signIn(context: Context, settings: Settings, options: Options): Promise<VerifiedKey> {
  const given = await givenKey(context, settings, options);
  if (given !== undefined) return verifyKey(context, settings, given.value, given.source);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await askSecret(context, `Key for ${settings.origin.value}`, "--key-stdin or --key-file FILE");
      return await verifyKey(context, settings, parseKey(answer, prompt), prompt);
    } catch (error) {
      if (!isRejectedKey(error) || attempt === mostAttempts) throw error;
      context.output.warn(`${error.message}. Try again, or stop with Ctrl-C.`);
    }
  }
}

/** Returns the key from standard input, a key file or a variable. Undefined if none of them supplies a key. */
async function givenKey(context: Context, settings: Settings, options: Options): Promise<ResolvedSetting<string> | undefined> {
  if (options.keyStdin && context.flags.keyFile !== undefined) throw usageError("--key-stdin and --key-file cannot be used together");
  if (options.keyStdin) return { value: parseKey(await text(context.io.stdin), "standard input"), source: "standard input" };
  return settings.key !== undefined && /^(--key-file|RUNTIMECTL_KEY)/.test(settings.key.source) ? settings.key : undefined;
}
