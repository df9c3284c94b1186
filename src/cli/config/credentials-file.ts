import { lstatSync, mkdirSync } from "node:fs";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { readFileIfThere } from "./read-file-if-there.js";
import { exitCodes } from "../command/exit-codes.js";

/** An API key, and the only origin to which runtimectl sends this key. */
export interface Credential {
  readonly origin: string;
  readonly key: string;
  /**
   * The daemon's API path at the time of sign-in. With this path, a command can skip the discovery request. Undefined in files of older
   * runtimectl versions.
   */
  readonly api?: string | undefined;
}

/** The file credentials.json, with one API key per profile. runtimectl rejects the file if other users can read it. */
export class CredentialsFile {
  readonly file: string;
  readonly #profiles: Map<string, Credential>;

  private constructor(file: string, profiles: Map<string, Credential>) {
    this.file = file;
    this.#profiles = profiles;
  }

  static open(directory: string): CredentialsFile {
    const file = path.join(directory, "credentials.json");
    refuseUnsafeFile(file);
    const text = readFileIfThere(file);
    const profiles = text === undefined ? {} : profilesIn(text);
    if (profiles === undefined) throw unusable(file, "its content is not valid", "delete it and sign in again");
    return new CredentialsFile(file, new Map(Object.entries(profiles)));
  }

  get(profile: string): Credential | undefined {
    return this.#profiles.get(profile);
  }

  set(profile: string, credential: Credential): void {
    this.#profiles.set(profile, credential);
  }

  /** Deletes the API key of a profile. Returns whether the file contained a key for the profile. */
  delete(profile: string): boolean {
    return this.#profiles.delete(profile);
  }

  async save(): Promise<void> {
    mkdirSync(path.dirname(this.file), { recursive: true, mode: 0o700 });
    const { default: writeFileAtomic } = await import("write-file-atomic");
    await writeFileAtomic(this.file, `${JSON.stringify({ profiles: Object.fromEntries(this.#profiles) }, undefined, 2)}\n`, {
      mode: 0o600,
    });
  }
}

function refuseUnsafeFile(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile()) throw unusable(file, "it is not a regular file", "delete it and sign in again");
  if (process.getuid !== undefined && stats.uid !== process.getuid())
    throw unusable(file, "it belongs to another user", "set RUNTIMECTL_CONFIG_DIR to a folder that you own");
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0)
    throw unusable(
      file,
      `other users can read it (mode ${(stats.mode & 0o777).toString(8).padStart(4, "0")})`,
      `chmod 600 ${file}; if another user could have read the file, revoke its keys and sign in again`,
    );
}

function unusable(file: string, reason: string, hint: string): CommandError {
  return new CommandError("CREDENTIALS_UNSAFE", `the credentials file ${file} is not used: ${reason}`, {
    exitCode: exitCodes.notAuthenticated,
    hint,
  });
}

/**
 * Parses the text of credentials.json. Returns undefined for invalid content. Uses no schema library, because loading the library would
 * delay the start of every command.
 */
function profilesIn(text: string): Record<string, Credential> | undefined {
  const content = parseJson(text);
  if (!isMap(content)) return undefined;
  const { profiles = {} } = content;
  return isMap(profiles) && Object.values(profiles).every(isCredential) ? (profiles as Record<string, Credential>) : undefined;
}

function isCredential(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { origin, key, api } = value;
  return typeof origin === "string" && typeof key === "string" && (api === undefined || typeof api === "string");
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
