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
    ["runtimectl auth login", "ask for the key, hidden"],
    ["runtimectl auth login --url https://rt.example.org --profile home", "another daemon, under a name of its own"],
    ["pass show runtimed | runtimectl auth login --key-stdin", "take the key from another program"],
    ["runtimectl auth login --key-file /run/secrets/key", "take the key from a file"],
    ["runtimectl auth login --store none", "check a key, keep nothing"],
  ],
  options: [
    { flags: "--key-stdin", description: "Read the key from standard input" },
    {
      flags: "--store <where>",
      description: "file keeps the key in credentials.json (default); none only checks it",
      choices: ["file", "none"],
    },
    { flags: "--production", description: "Mark the profile: destructive commands then need its name" },
    { flags: "--readonly", description: "Mark the profile: commands that change something are refused" },
  ],
  notes:
    "The key is checked with the daemon before anything is saved.\n" +
    "It is kept in credentials.json, readable by you only, and is sent to this daemon's origin only. Keyrings of the system are not used:\n" +
    "to keep it in one, use --store none here and RUNTIMECTL_KEY or RUNTIMECTL_KEY_FILE afterwards.\n" +
    "While one of these variables is set, no key is kept unless --key-stdin or --key-file names it.",
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
    const who = `${principal.name} (${principal.role})${expiresAt === undefined ? "" : `, key ends ${endOn(expiresAt, Date.now())}`}`;
    const document = { url: settings.origin.value, principal: { ...shown, ...timeFields("expiresAt", expiresAt) } };
    if (options.store === "none") {
      context.output.note(`the key is good at ${settings.origin.value} for ${who}; nothing was kept`);
      return context.output.result({ profile: null, store: null, ...document });
    }
    await keepKey(verified, { config, credentials, settings, name: profile, profile: profileSettings });
    context.output.note(
      `signed in to ${settings.origin.value} as ${who}\nprofile ${profile} is now the current one; its key is in ${credentials.file}`,
    );
    context.output.result({ profile, store: credentials.file, ...document });
  },
});

/** The profile to write: as named, else the one that has this daemon already, else one named after the host. */
function chooseName({ flags, environment }: Context, config: ConfigFile): string {
  const named = flags.profile ?? environment.RUNTIMECTL_PROFILE;
  if (named !== undefined) return profileName(named);
  const url = flags.url ?? environment.RUNTIMECTL_URL;
  if (url === undefined) return config.current ?? "default";
  const origin = parseOrigin(url, "--url");
  const existing = [...config.profiles].find(([, profile]) => profile.url === origin);
  return existing?.[0] ?? (config.profiles.size === 0 ? "default" : new URL(origin).host.replace(/[^a-z0-9.-]/gi, "-"));
}

/** The settings of the call that checks the key: the profile may not exist yet. */
async function loginSettings(context: Context, config: ConfigFile, profile: string): Promise<Settings> {
  const { profile: _named, ...unnamed } = context.flags;
  const { RUNTIMECTL_PROFILE: _variable, ...environment } = context.environment;
  const flags = config.profiles.has(profile) ? { ...unnamed, profile } : unnamed;
  return resolveSettings({ ...context, flags, environment });
}

/** The key of the variable would be written into a file unasked, and be used in place of the kept one afterwards. */
function refuseVariable({ flags, environment }: Context, settings: Settings, { keyStdin = false }: Options): void {
  if (keyStdin || flags.keyFile !== undefined) return;
  const variable = (["RUNTIMECTL_KEY", "RUNTIMECTL_KEY_FILE"] as const).find((name) => environment[name] !== undefined);
  if (variable === undefined) return;
  throw usageError(
    `${variable} is set: commands use its key for ${settings.origin.value} without signing in, and nothing was kept`,
    `unset ${variable} to sign in with another key; to keep its key: ${variable === "RUNTIMECTL_KEY" ? "printenv RUNTIMECTL_KEY | runtimectl auth login --key-stdin" : 'runtimectl auth login --key-file "$RUNTIMECTL_KEY_FILE"'}`,
  );
}

/** Takes the key from where it was said to be, or asks for it, again when the daemon rejects it. */
async function signIn(context: Context, settings: Settings, options: Options): Promise<VerifiedKey> {
  const given = await givenKey(context, settings, options);
  if (given !== undefined) return verifyKey(context, settings, given.value, given.source);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await askSecret(context, `Key for ${settings.origin.value}`, "--key-stdin or --key-file FILE");
      return await verifyKey(context, settings, parseKey(answer, prompt), prompt);
    } catch (error) {
      if (!isRejectedKey(error) || attempt === mostAttempts) throw error;
      context.output.warn(`${error.message}. Try again, or end with Ctrl-C.`);
    }
  }
}

/** The key of a flag, of standard input or of a variable. */
async function givenKey(context: Context, settings: Settings, options: Options): Promise<ResolvedSetting<string> | undefined> {
  if (options.keyStdin && context.flags.keyFile !== undefined) throw usageError("--key-stdin and --key-file exclude each other");
  if (options.keyStdin) return { value: parseKey(await text(context.io.stdin), "standard input"), source: "standard input" };
  return settings.key !== undefined && /^(--key-file|RUNTIMECTL_KEY)/.test(settings.key.source) ? settings.key : undefined;
}
