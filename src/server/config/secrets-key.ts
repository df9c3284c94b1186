import { existsSync } from "node:fs";
import path from "node:path";

/**
 * The file with the keys that encrypt the secrets of workers, one key per line. The daemon encrypts and decrypts with the first key. It
 * uses the other keys only to decrypt.
 */
export interface SecretsKeySource {
  readonly file: string;
  /** Name of the file in error messages and health checks. */
  readonly name: string;
  /**
   * Kind of the file. The daemon creates and changes the file of kind `own` in its state directory. The operator provides files of the
   * other kinds.
   */
  readonly kind: "credential" | "file" | "own";
}

const credentialName = "secrets-key";
const fileVariable = "RUNTIME_SECRETS_KEY_FILE";
/** Name of the daemon's own secrets key file in the state directory. */
const ownSecretsKeyName = "secrets.key";

/**
 * Returns the file with the keys that encrypt secrets: the systemd credential, the file that an environment variable names, or the file in
 * the state directory.
 */
export function secretsKeySource(
  environment: Readonly<Record<string, string | undefined>>,
  { cwd, stateDirectory }: { cwd: string; stateDirectory: string },
): SecretsKeySource {
  const credentials = environment["CREDENTIALS_DIRECTORY"];
  const credential = credentials && path.join(credentials, credentialName);
  // Ignores a missing file, because systemd also sets CREDENTIALS_DIRECTORY for other credentials.
  if (credential && existsSync(credential)) return { file: credential, name: `systemd credential ${credentialName}`, kind: "credential" };
  const file = environment[fileVariable];
  if (file) return { file: path.resolve(cwd, file), name: fileVariable, kind: "file" };
  return { file: path.join(stateDirectory, ownSecretsKeyName), name: ownSecretsKeyName, kind: "own" };
}
