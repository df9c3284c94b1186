import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { ApiError } from "../../shared/api-error.js";
import { ConfigError } from "../config/config-error.js";
import type { SecretsKeySource } from "../config/secrets-key.js";
import { insufficientStorage, isStorageFull } from "../platform/storage-full.js";
import { unnamedFileOf, writePrivateFile } from "../platform/write-private-file.js";
import { keyBytes, toSecretsKey, type SecretsKey } from "./secret-cipher.js";

/** Matches a key of 32 bytes in Base64 or Base64url. */
const keyPattern = /^[A-Za-z0-9+/_-]{43}=?$/;
const form = "keys of 32 bytes in Base64, one in each line, such as the output of: openssl rand -base64 32";

/** The keys that encrypt the secrets of workers. The first key encrypts and decrypts. All other keys only decrypt. */
export class SecretsKeys {
  readonly source: SecretsKeySource;
  /** True if the daemon creates and changes the key file. False with a primary, because no other daemon would receive a new key. */
  readonly isManaged: boolean;
  #keys: readonly SecretsKey[];

  /** Reads the key file. Throws ConfigError if a file of the operator is missing, or if a line is not a valid key. */
  static open(source: SecretsKeySource, { hasPrimary }: { hasPrimary: boolean }): SecretsKeys {
    return new SecretsKeys(source, source.kind === "own" && !hasPrimary);
  }

  private constructor(source: SecretsKeySource, isManaged: boolean) {
    this.source = source;
    this.isManaged = isManaged;
    if (isManaged) rmSync(unnamedFileOf(source.file), { force: true });
    this.#keys = readKeys(source);
  }

  get current(): SecretsKey | undefined {
    return this.#keys[0];
  }

  get count(): number {
    return this.#keys.length;
  }

  /** Returns the location of the first key, such as `systemd credential secrets-key, key 0123456789abcdef`. */
  describeLocation(): string {
    const { name, file, kind } = this.source;
    const location = kind === "credential" ? name : `file ${file}`;
    if (this.current) return `${location}, key ${this.current.id}`;
    return this.isManaged
      ? `none yet; the first secret creates ${file}`
      : `none; workers can have no secrets until each daemon has ${file}`;
  }

  /** Returns the problem of the key file, or undefined if the file is usable. */
  problem(): string | undefined {
    const { file, kind } = this.source;
    if (!this.current || kind === "credential") return undefined;
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return `the file ${file} does not exist any more: restore the file before the daemon stops, or all secrets are lost`;
    return (stat.mode & 0o077) === 0 ? undefined : `other users can access ${file}: chmod 600 ${file}`;
  }

  find(id: string): SecretsKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  /**
   * Returns the first key. If there is no key, creates one and syncs it to disk. Throws SECRETS_KEY_UNAVAILABLE if only the operator can create
   * keys.
   */
  async currentOrCreated(): Promise<SecretsKey> {
    return this.current ?? (await this.add());
  }

  /** Adds a new key as the first key. Throws SECRETS_KEY_UNAVAILABLE if the daemon does not manage the key file. */
  async add(): Promise<SecretsKey> {
    if (!this.isManaged)
      throw new ApiError(
        "SECRETS_KEY_UNAVAILABLE",
        "No encryption key for secrets is configured. Give each daemon the same systemd credential secrets-key, or the same RUNTIME_SECRETS_KEY_FILE. Then restart the daemons.",
      );
    const key = toSecretsKey(randomBytes(keyBytes));
    await this.#replace([key, ...this.#keys]);
    return key;
  }

  /** Removes all keys except for the first key. Call it only if the daemon manages the key file. */
  async dropOld(): Promise<void> {
    await this.#replace(this.#keys.slice(0, 1));
  }

  async #replace(keys: readonly SecretsKey[]): Promise<void> {
    try {
      await writePrivateFile(this.source.file, keys.map(({ bytes }) => `${bytes.toString("base64")}\n`).join(""));
    } catch (cause) {
      if (isStorageFull(cause)) throw insufficientStorage(cause);
      throw new ApiError(
        "STORAGE_NOT_WRITABLE",
        "The daemon cannot write the file with the encryption keys for secrets. Nothing was changed. Make the file writable, then retry.",
        { cause },
      );
    }
    this.#keys = keys;
  }
}

function readKeys({ file, name, kind }: SecretsKeySource): SecretsKey[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (kind === "own" && code === "ENOENT") return [];
    throw new ConfigError(name, file, `the path of a file that the daemon can read (error: ${code})`);
  }
  const lines = text.split("\n").flatMap((line) => line.trim() || []);
  const isEmpty = lines.length === 0;
  if (isEmpty || !lines.every((line) => keyPattern.test(line))) throw new ConfigError(name, undefined, form);
  return lines.map((line) => toSecretsKey(Buffer.from(line, "base64")));
}
