import path from "node:path";
import { text } from "node:stream/consumers";
import { usageError } from "../../command-error.js";
import { defineCommand, type Context } from "../../command.js";
import { ConfigFile } from "../../config-file.js";
import { CredentialsFile } from "../../credentials-file.js";
import { timeFields, toDay } from "../../dates.js";
import { profileName } from "../../profile-name.js";
import { askSecret } from "../../prompts.js";
import { signIn, verifyKey } from "../../sign-in.js";
import { parseKey, parseOrigin, resolveSettings, type Settings } from "../../settings.js";

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
    "to keep it in one, use --store none here and RUNTIMECTL_KEY or RUNTIMECTL_KEY_FILE afterwards.",
  async run(context, _values, options) {
    const directory = context.directories.config;
    const [config, credentials] = [ConfigFile.open(directory), CredentialsFile.open(directory)];
    const profile = chooseName(context, config);
    const settings = await loginSettings(context, config, profile);
    const key = await takeKey(context, settings, options);
    const profileSettings = {
      ...(context.flags.cacert === undefined ? {} : { cacert: path.resolve(context.workingDirectory, context.flags.cacert) }),
      ...(options.production ? { production: true } : {}),
      ...(options.readonly ? { readonly: true } : {}),
    };
    const principal =
      options.store === "none"
        ? (await verifyKey(context, settings, key)).principal
        : await signIn(context, { config, credentials, settings, key, name: profile, profile: profileSettings });
    const { expiresAt, ...shown } = principal;
    const who = `${principal.name} (${principal.role})${expiresAt === undefined ? "" : `, key ends ${toDay(expiresAt)}`}`;
    const document = { url: settings.origin.value, principal: { ...shown, ...timeFields("expiresAt", expiresAt) } };
    if (options.store === "none") {
      context.output.note(`the key is good at ${settings.origin.value} for ${who}; nothing was kept`);
      return context.output.result({ profile: null, store: null, ...document });
    }
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

async function takeKey(context: Context, settings: Settings, options: Options): Promise<string> {
  if (options.keyStdin && context.flags.keyFile !== undefined) throw usageError("--key-stdin and --key-file exclude each other");
  if (options.keyStdin) return parseKey(await text(context.io.stdin), "standard input");
  if (settings.key !== undefined && /^(--key-file|RUNTIMECTL_KEY)/.test(settings.key.source)) return settings.key.value;
  const answer = await askSecret(context, `Key for ${settings.origin.value}`, "--key-stdin or --key-file FILE");
  return parseKey(answer, "the answer");
}
