import { readSecret, readSecretFile, type SecretFile, type SecretForm } from "./secret-source.js";

/** A file that holds the root key, and what it is called in messages. */
export type RootKeyFile = SecretFile;

/** A key that no header could carry would refuse everybody without a word. */
const rootKeyForm: SecretForm = {
  credential: "root-key",
  variable: "RUNTIME_ROOT_KEY",
  pattern: /^[\x20-\x7e]{1,512}$/,
  takes: "a key of at most 512 printable ASCII characters, on one line",
};

/** The root key, from the systemd credential, the file, or the variable. Throws ConfigError when it cannot be read or sent. */
export function readRootKey(environment: Readonly<Record<string, string | undefined>>): {
  rootKey: string | undefined;
  rootKeyFile: RootKeyFile | undefined;
} {
  const { secret, secretFile } = readSecret(environment, rootKeyForm);
  return { rootKey: secret, rootKeyFile: secretFile };
}

/** The key that a file holds now, undefined when that is none; throws ConfigError. */
export function readRootKeyFile(file: RootKeyFile): string | undefined {
  return readSecretFile(file, rootKeyForm);
}
