import { lstatSync, mkdirSync } from "node:fs";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { readFileIfThere } from "./read-file-if-there.js";
import { exitCodes } from "../command/exit-codes.js";

/** A key and the only origin that it may be sent to. */
export interface Credential {
  readonly origin: string;
  readonly key: string;
  /** Where the API was when this was saved. Saves a request; absent in files of older versions. */
  readonly api?: string | undefined;
}

/** credentials.json: one key a profile. Nobody but its owner may read it; otherwise it is not used. */
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
    if (profiles === undefined) throw unusable(file, "it is not the file that runtimectl wrote", "delete it and sign in again");
    return new CredentialsFile(file, new Map(Object.entries(profiles)));
  }

  get(profile: string): Credential | undefined {
    return this.#profiles.get(profile);
  }

  set(profile: string, credential: Credential): void {
    this.#profiles.set(profile, credential);
  }

  /** Whether there was one to delete. */
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
    throw unusable(file, "it belongs to another user", "use a folder of your own (RUNTIMECTL_CONFIG_DIR)");
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0)
    throw unusable(
      file,
      `others can read it (mode ${(stats.mode & 0o777).toString(8).padStart(4, "0")})`,
      `chmod 600 ${file}; if others may have read it, revoke its keys and sign in again`,
    );
}

function unusable(file: string, reason: string, hint: string): CommandError {
  return new CommandError("CREDENTIALS_UNSAFE", `${file} is not used: ${reason}`, { exitCode: exitCodes.notAuthenticated, hint });
}

/** Undefined when the text is not what `save` writes. Checked by hand: every command reads this, and a schema takes longer to make. */
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
