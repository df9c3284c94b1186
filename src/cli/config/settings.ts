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

/** A value and where it comes from, in words for `auth status`. */
export interface ResolvedSetting<Value> {
  readonly value: Value;
  readonly source: string;
}

/** Everything that decides where a call goes and who makes it: flag > environment > project file > profile > default. */
export interface Settings {
  readonly profile: ResolvedSetting<string> | undefined;
  readonly isProduction: boolean;
  /** Calls that change something are refused, whatever the key may do. */
  readonly isReadOnly: boolean;
  readonly origin: ResolvedSetting<string>;
  readonly key: ResolvedSetting<string> | undefined;
  /** Where the API was when the key was kept; a hint only, it may have moved. */
  readonly apiBase: string | undefined;
  /** Why a key that is there is not used. */
  readonly keyWithheld: string | undefined;
  readonly certificateAuthorities: string | undefined;
  readonly insecure: boolean;
  /** Its URL may hold a password: never shown. */
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
      `there is no profile ${profileName.value} (named by ${profileName.source})`,
      `runtimectl auth login --profile ${profileName.value} --url URL`,
    );
  const origin = chooseOrigin(context, profileName && profile && { name: profileName.value, profile });
  const isProduction = profile?.production ?? false;
  if (flags.insecure && isProduction) throw usageError("--insecure is refused for a production profile", "use --cacert FILE");
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

/** The origin of a daemon's URL; anything beyond an origin is refused, so that no part of it is silently dropped. */
export function parseOrigin(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw usageError(
      `${source}: ${text} is not a URL such as https://rt.example.org`,
      /^[\w.-]+(:\d+)?$/.test(text) ? `http://${text}` : undefined,
    );
  if (url.username !== "" || url.password !== "") throw usageError(`${source}: a URL must not hold a user or password`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw usageError(`${source}: give the origin only, without a path`, url.origin);
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

/** The key in a file: its only word. */
function readKeyFile(file: string): string {
  try {
    return parseKey(readFileSync(file, "utf8"), file);
  } catch (error) {
    throw unreadable("the key file", file, error);
  }
}

/** A usage error for a file that was named and cannot be read; failures that have their words already pass through. */
function unreadable(what: string, file: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof CommandError ? error : usageError(`${what} ${file} cannot be read: ${code ?? String(error)}`);
}

/** Checks that the text can be a key: it becomes a header. */
export function parseKey(text: string, source: string): string {
  const key = text.trim();
  if (!/^[\x21-\x7e]{1,512}$/.test(key)) throw usageError(`${source} does not hold a key: it must be one word of visible characters`);
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
