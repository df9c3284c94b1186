import { readSecret, readSecretFile, type SecretFile, type SecretForm } from "./secret-source.js";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "./config.js";
import { openStateDirectory } from "./state-directory.js";

/** The form of a root key. A key that HTTP headers cannot contain would reject every caller without a message. */
const rootKeyForm: SecretForm = {
  credential: "root-key",
  variable: "RUNTIME_ROOT_KEY",
  pattern: /^[\x20-\x7e]{1,512}$/,
  takes: "a key of at most 512 printable ASCII characters, on one line",
};
const keyBytes = 32;
/** Name of the file in the state directory. */
export const ownRootKeyName = "root.key";

/** The file of the root key, and its name in messages. */
export type RootKeyFile = SecretFile;

/**
 * Reads the root key from the systemd credential, the file or the variable. Throws ConfigError when the key cannot be read or headers
 * cannot contain it.
 */
export function readRootKey(environment: Readonly<Record<string, string | undefined>>): {
  rootKey: string | undefined;
  rootKeyFile: RootKeyFile | undefined;
} {
  const { secret, secretFile } = readSecret(environment, rootKeyForm);
  return { rootKey: secret, rootKeyFile: secretFile };
}

/** Returns the current key in the file; undefined for an empty file. Throws ConfigError. */
export function readRootKeyFile(file: RootKeyFile): string | undefined {
  return readSecretFile(file, rootKeyForm);
}

/** Returns the file of the root key that the daemon creates, which is used when no other root key is configured. */
export function ownRootKeyFile(stateDirectory: string): RootKeyFile {
  return { name: "the root key of the state directory", file: path.join(stateDirectory, ownRootKeyName) };
}

/** Writes a new root key to a file that only its user can read. Does nothing when the file exists. */
export async function makeRootKeyFile(file: string): Promise<void> {
  // The flag "wx" never replaces a key that clients already use.
  await writeFile(file, `${randomBytes(keyBytes).toString("base64url")}\n`, { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** Creates a root key in the state directory if none exists. Returns the configuration with this key. */
export async function makeOwnRootKey(config: Config): Promise<Config> {
  await openStateDirectory(config.stateDirectory);
  const rootKeyFile = ownRootKeyFile(config.stateDirectory);
  await makeRootKeyFile(rootKeyFile.file);
  return { ...config, rootKey: readRootKeyFile(rootKeyFile), rootKeyFile };
}
