import path from "node:path";
import { show } from "../../../shared/contract/session.js";
import { usageError } from "../../command-error.js";
import { defineCommand, type Context } from "../../command.js";
import { configDirectory } from "../../config-directory.js";
import { ConfigFile } from "../../config-file.js";
import { connectAnonymously } from "../../connection.js";
import { CredentialsFile } from "../../credentials-file.js";
import { timeFields, toDay } from "../../dates.js";
import { profileName } from "../../profile-name.js";
import { askSecret } from "../../prompts.js";
import { parseKey, parseOrigin, resolveSettings, type Settings } from "../../settings.js";

interface Options {
  readonly keyStdin?: boolean;
  readonly production?: boolean;
}

export const command = defineCommand<[], Options>({
  examples: [
    ["runtimectl auth login", "ask for the key, hidden"],
    ["runtimectl auth login --url https://rt.example.org --profile home", "another daemon, under a name of its own"],
    ["pass show runtimed | runtimectl auth login --key-stdin", "take the key from another program"],
    ["runtimectl auth login --key-file /run/secrets/key", "take the key from a file"],
  ],
  options: [
    { flags: "--key-stdin", description: "Read the key from standard input" },
    { flags: "--production", description: "Mark the profile: destructive commands then need its name" },
  ],
  notes:
    "The key is checked with the daemon before anything is saved.\n" +
    "It is kept in credentials.json, readable by you only, and is sent to this daemon's origin only.",
  async run(context, _values, options) {
    const directory = configDirectory(context.environment);
    const [config, credentials] = [ConfigFile.open(directory), CredentialsFile.open(directory)];
    const profile = chooseName(context, config);
    const settings = await loginSettings(context, config, profile);
    const key = await takeKey(context, settings, options);
    const { principal, api } = await verify(context, settings, key);
    config.setProfile(profile, {
      url: settings.origin.value,
      ...(context.flags.cacert === undefined ? {} : { cacert: path.resolve(context.workingDirectory, context.flags.cacert) }),
      ...(options.production ? { production: true } : {}),
    });
    config.setCurrent(profile);
    credentials.set(profile, { origin: settings.origin.value, key, api });
    await credentials.save();
    await config.save();
    context.output.note(
      `signed in to ${settings.origin.value} as ${principal.name} (${principal.role})` +
        `${principal.expiresAt === undefined ? "" : `, key ends ${toDay(principal.expiresAt)}`}\n` +
        `profile ${profile} is now the current one; its key is in ${credentials.file}`,
    );
    const { expiresAt, ...shown } = principal;
    context.output.result({
      profile,
      url: settings.origin.value,
      store: credentials.file,
      principal: { ...shown, ...timeFields("expiresAt", expiresAt) },
    });
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
  if (options.keyStdin) return parseKey(await readAll(process.stdin), "standard input");
  if (settings.key !== undefined && /^(--key-file|RUNTIMECTL_KEY)/.test(settings.key.source)) return settings.key.value;
  const answer = await askSecret(context, `Key for ${settings.origin.value}`, "--key-stdin or --key-file FILE");
  return parseKey(answer, "the answer");
}

async function verify(context: Context, settings: Settings, key: string) {
  const asGiven = { ...settings, key: { value: key, source: "login" }, apiBase: undefined };
  const { client, discover } = await connectAnonymously(context, { session: { show } }, asGiven);
  const { principal } = await client.session.show();
  return { principal, api: (await discover()).api };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
