import { readFileSync } from "node:fs";
import path from "node:path";
import { parseDurationMs } from "../../shared/duration.js";
import { chooseProxy } from "./proxy.js";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { configFile } from "./config-directory.js";
import type { Profile, Profiles } from "./config-file.js";
import { CredentialsFile } from "./credentials-file.js";
import { findProject } from "./project-file.js";
import { readProfiles } from "./read-profiles.js";

const defaultOrigin = "http://127.0.0.1:8000";
const defaultTimeoutMs = 30_000;

/** A setting with its source, such as a flag or a variable. `auth status` shows the source. */
export interface ResolvedSetting<Value> {
  readonly value: Value;
  readonly source: string;
}

/** Connection settings. The sources in order of priority: flag, environment variable, project file, profile, default. */
export interface Settings {
  readonly profile: ResolvedSetting<string> | undefined;
  readonly isProduction: boolean;
  /** Whether runtimectl rejects requests that change data, even if the key has the permission. */
  readonly isReadOnly: boolean;
  readonly origin: ResolvedSetting<string>;
  readonly key: ResolvedSetting<string> | undefined;
  /** The API path that the daemon had at the time of sign-in. The operator can have changed the path since then. */
  readonly apiBase: string | undefined;
  /** The reason why the stored key is not used. Undefined if the key is used, or if no key is stored. */
  readonly keyWithheld: string | undefined;
  readonly certificateAuthorities: string | undefined;
  readonly insecure: boolean;
  /** The URL of the proxy. Messages must not contain it, because it can include a password. */
  readonly proxy: ResolvedSetting<string> | undefined;
  readonly timeout: ResolvedSetting<number>;
}

export async function resolveSettings(context: Context): Promise<Settings> {
  const { flags, environment } = context;
  const directory = context.directories.config;
  const config = await readProfiles(directory);
  const profileName = await chooseProfile(context, config, directory);
  const profile = profileName && config.profiles.get(profileName.value);
  if (profileName !== undefined && profile === undefined)
    throw usageError(
      `there is no profile ${profileName.value} (from ${profileName.source})`,
      `runtimectl auth login --profile ${profileName.value} --url URL`,
    );
  const origin = chooseOrigin(context, profileName && profile && { name: profileName.value, profile });
  const isProduction = profile?.production ?? false;
  if (flags.insecure && isProduction) throw usageError("--insecure is not allowed with a production profile", "use --cacert FILE");
  return {
    profile: profileName,
    isProduction,
    isReadOnly: profile?.readonly ?? false,
    origin,
    insecure: flags.insecure ?? false,
    ...chooseKey(context, {
      directory,
      profileName: profileName?.value,
      origin: origin.value,
    }),
    certificateAuthorities: readAuthorities(context, profile),
    proxy: chooseProxy(origin.value, environment),
    timeout: chooseTimeout(context),
  };
}

async function chooseProfile(
  { flags, environment, workingDirectory, directories }: Context,
  config: Profiles,
  directory: string,
): Promise<ResolvedSetting<string> | undefined> {
  if (flags.profile !== undefined) return { value: flags.profile, source: "--profile" };
  if (environment.RUNTIMECTL_PROFILE !== undefined) return { value: environment.RUNTIMECTL_PROFILE, source: "RUNTIMECTL_PROFILE" };
  const project = await findProject(workingDirectory, directories.home);
  if (project?.profile !== undefined) return { value: project.profile, source: project.file };
  return config.current === undefined ? undefined : { value: config.current, source: configFile(directory) };
}

function chooseOrigin({ flags, environment }: Context, chosen: { name: string; profile: Profile } | undefined): ResolvedSetting<string> {
  if (flags.url !== undefined) return { value: parseOrigin(flags.url, "--url"), source: "--url" };
  if (environment.RUNTIMECTL_URL !== undefined)
    return { value: parseOrigin(environment.RUNTIMECTL_URL, "RUNTIMECTL_URL"), source: "RUNTIMECTL_URL" };
  if (chosen === undefined) return { value: defaultOrigin, source: "default" };
  const source = `profile ${chosen.name}`;
  return { value: parseOrigin(chosen.profile.url, source), source };
}

/** Returns the origin of a URL. Throws a usage error for a URL with a path, query or user, because these parts would be ignored. */
export function parseOrigin(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw usageError(
      `${source}: ${text} is not a URL such as https://rt.example.org`,
      /^[\w.-]+(:\d+)?$/.test(text) ? `http://${text}` : undefined,
    );
  if (url.username !== "" || url.password !== "") throw usageError(`${source}: the URL must not contain a user or password`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw usageError(`${source}: the URL must be an origin, without a path`, url.origin);
  return url.origin;
}

function chooseKey(
  { flags, environment, workingDirectory }: Context,
  from: { directory: string; profileName: string | undefined; origin: string },
): Pick<Settings, "key" | "apiBase" | "keyWithheld"> {
  const none = { key: undefined, apiBase: undefined, keyWithheld: undefined };
  const keyIn = (file: string, source: string) => ({
    ...none,
    key: { value: readKeyFile(path.resolve(workingDirectory, file)), source },
  });
  if (flags.keyFile !== undefined) return keyIn(flags.keyFile, "--key-file");
  if (environment.RUNTIMECTL_KEY !== undefined)
    return { ...none, key: { value: parseKey(environment.RUNTIMECTL_KEY, "RUNTIMECTL_KEY"), source: "RUNTIMECTL_KEY" } };
  if (environment.RUNTIMECTL_KEY_FILE !== undefined) return keyIn(environment.RUNTIMECTL_KEY_FILE, "RUNTIMECTL_KEY_FILE");
  if (from.profileName === undefined) return none;
  const credentials = CredentialsFile.open(from.directory);
  const stored = credentials.get(from.profileName);
  if (stored === undefined) return none;
  if (stored.origin !== from.origin)
    return {
      ...none,
      keyWithheld: `the key of profile ${from.profileName} is for ${stored.origin} and is not sent to ${from.origin}`,
    };
  return { ...none, key: { value: stored.key, source: credentials.file }, apiBase: stored.api };
}

/** Reads the API key from a file. Throws a usage error if the file contains more than the key. */
function readKeyFile(file: string): string {
  try {
    return parseKey(readFileSync(file, "utf8"), file);
  } catch (error) {
    throw unreadable("the key file", file, error);
  }
}

/** Returns a usage error for a file that cannot be read. If `error` is already a CommandError, returns it unchanged. */
function unreadable(what: string, file: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof CommandError ? error : usageError(`${what} ${file} cannot be read: ${code ?? String(error)}`);
}

/** Returns the API key without surrounding white space. Throws a usage error if the text is not a valid header value. */
export function parseKey(text: string, source: string): string {
  const key = text.trim();
  if (!/^[\x21-\x7e]{1,512}$/.test(key))
    throw usageError(`${source} does not contain a key: a key is one word of printable ASCII characters`);
  return key;
}

function readAuthorities({ flags, environment, workingDirectory, directories }: Context, profile: Profile | undefined): string | undefined {
  const file = flags.cacert ?? environment.RUNTIMECTL_CACERT;
  const fromProfile = profile?.cacert?.replace(/^~(?=\/)/, directories.home);
  const chosen = file === undefined ? fromProfile : path.resolve(workingDirectory, file);
  if (chosen === undefined) return undefined;
  try {
    return readFileSync(chosen, "utf8");
  } catch (error) {
    throw unreadable("the certificate file", chosen, error);
  }
}

function chooseTimeout({ flags, environment }: Context): ResolvedSetting<number> {
  const [text, source] =
    flags.timeout !== undefined ? [flags.timeout, "--timeout"] : [environment.RUNTIMECTL_TIMEOUT, "RUNTIMECTL_TIMEOUT"];
  if (text === undefined) return { value: defaultTimeoutMs, source: "default" };
  const value = parseDurationMs(text);
  if (value === undefined || value === 0) throw usageError(`${source}: ${text} is not a duration such as 500ms, 30s or 5m`);
  return { value, source };
}
