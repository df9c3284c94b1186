import { readSecret, readSecretFile, type SecretFile, type SecretForm } from "./secret-source.js";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "./config.js";
import { openStateDirectory } from "./state-directory.js";

/**
 * Accepted form of a root key. A key with other characters cannot be in an HTTP header, so every request would fail with 401 without an
 * explanation.
 */
const rootKeyForm: SecretForm = {
  credential: "root-key",
  variable: "RUNTIME_ROOT_KEY",
  pattern: /^[\x20-\x7e]{1,512}$/,
  takes: "a key of at most 512 printable ASCII characters, on one line",
};
const keyBytes = 32;
/** Name of the root key file in the state directory. */
export const ownRootKeyName = "root.key";

/** The file that contains the root key, and the name of the file in error messages. */
export type RootKeyFile = SecretFile;

/**
 * Reads the root key from the systemd credential, the file or the environment variable. Throws a ConfigError if the key is not readable or
 * contains characters that an HTTP header cannot contain.
 */
function readRootKey(environment: Readonly<Record<string, string | undefined>>): Pick<Config, "rootKey" | "rootKeyFile"> {
  const { secret, secretFile } = readSecret(environment, rootKeyForm);
  return { rootKey: secret, rootKeyFile: secretFile };
}

/** Returns the configured root key. Without a configured root key, returns the root key that the daemon created in its state directory. */
export function readRootKeyOrOwn(
  environment: Readonly<Record<string, string | undefined>>,
  stateDirectory: string,
): Pick<Config, "rootKey" | "rootKeyFile"> {
  const given = readRootKey(environment);
  if (given.rootKey !== undefined || given.rootKeyFile !== undefined) return given;
  const own = ownRootKeyFile(stateDirectory);
  return existsSync(own.file) ? { rootKey: readRootKeyFile(own), rootKeyFile: own } : given;
}

/** Returns the root key that the file currently contains. Returns undefined for an empty file. Throws ConfigError. */
export function readRootKeyFile(file: RootKeyFile): string | undefined {
  return readSecretFile(file, rootKeyForm);
}

/**
 * Returns the path of the root key file in the state directory. The daemon creates this file, and uses it if no other root key is
 * configured.
 */
export function ownRootKeyFile(stateDirectory: string): RootKeyFile {
  return { name: "the root key of the state directory", file: path.join(stateDirectory, ownRootKeyName) };
}

/** Writes a new root key to a file that only the daemon's user can read. An existing file stays unchanged. */
export async function makeRootKeyFile(file: string): Promise<void> {
  // The flag "wx" makes the call fail for an existing file, because clients possibly use the existing root key.
  await writeFile(file, `${randomBytes(keyBytes).toString("base64url")}\n`, { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** Creates a root key in the state directory unless the file exists. Returns the configuration with the root key. */
export async function makeOwnRootKey(config: Config): Promise<Config> {
  await openStateDirectory(config.stateDirectory);
  const rootKeyFile = ownRootKeyFile(config.stateDirectory);
  await makeRootKeyFile(rootKeyFile.file);
  return { ...config, rootKey: readRootKeyFile(rootKeyFile), rootKeyFile };
}
