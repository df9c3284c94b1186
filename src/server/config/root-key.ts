import { readSecret, readSecretFile, type SecretFile, type SecretForm } from "./secret-source.js";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "./config.js";
import { openStateDirectory } from "./state-directory.js";

/** Accepted form of a root key. HTTP headers cannot contain other keys, so all requests would fail without an explanation. */
const rootKeyForm: SecretForm = {
  credential: "root-key",
  variable: "RUNTIME_ROOT_KEY",
  pattern: /^[\x20-\x7e]{1,512}$/,
  takes: "a key of at most 512 printable ASCII characters, on one line",
};
const keyBytes = 32;
/** Name of the root key file in the state directory. */
export const ownRootKeyName = "root.key";

/** The file with the root key, and its name in error messages. */
export type RootKeyFile = SecretFile;

/**
 * Reads the root key from the systemd credential, the file or the variable. Throws ConfigError if the key is not readable or HTTP headers
 * cannot contain it.
 */
export function readRootKey(environment: Readonly<Record<string, string | undefined>>): {
  rootKey: string | undefined;
  rootKeyFile: RootKeyFile | undefined;
} {
  const { secret, secretFile } = readSecret(environment, rootKeyForm);
  return { rootKey: secret, rootKeyFile: secretFile };
}

/** Returns the current root key in the file, or undefined for an empty file. Throws ConfigError. */
export function readRootKeyFile(file: RootKeyFile): string | undefined {
  return readSecretFile(file, rootKeyForm);
}

/** Returns the root key file that the daemon itself creates, and uses if no other root key is configured. */
export function ownRootKeyFile(stateDirectory: string): RootKeyFile {
  return { name: "the root key of the state directory", file: path.join(stateDirectory, ownRootKeyName) };
}

/** Writes a new root key to a file that only its user can read. Keeps an existing file. */
export async function makeRootKeyFile(file: string): Promise<void> {
  // Uses the flag "wx", which fails for an existing file, because clients can already use the existing key.
  await writeFile(file, `${randomBytes(keyBytes).toString("base64url")}\n`, { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** Creates a root key in the state directory if the file is missing. Returns the configuration with the root key. */
export async function makeOwnRootKey(config: Config): Promise<Config> {
  await openStateDirectory(config.stateDirectory);
  const rootKeyFile = ownRootKeyFile(config.stateDirectory);
  await makeRootKeyFile(rootKeyFile.file);
  return { ...config, rootKey: readRootKeyFile(rootKeyFile), rootKeyFile };
}
