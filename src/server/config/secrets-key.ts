import { existsSync } from "node:fs";
import path from "node:path";

/** A file with the keys that encrypt secrets, one per line. The first key encrypts and decrypts; the others only decrypt. */
export interface SecretsKeySource {
  readonly file: string;
  /** Name of the file in messages and checks. */
  readonly name: string;
  /** `own` is the file in the state directory, which the daemon creates and changes. The operator provides the other kinds. */
  readonly kind: "credential" | "file" | "own";
}

const credentialName = "secrets-key";
const fileVariable = "RUNTIME_SECRETS_KEY_FILE";
/** Name of the daemon's own secrets key file in the state directory. */
const ownSecretsKeyName = "secrets.key";

/** Returns the location of the keys: the systemd credential, the file of the variable, or the file in the state directory. */
export function secretsKeySource(
  environment: Readonly<Record<string, string | undefined>>,
  { cwd, stateDirectory }: { cwd: string; stateDirectory: string },
): SecretsKeySource {
  const credentials = environment["CREDENTIALS_DIRECTORY"];
  const credential = credentials && path.join(credentials, credentialName);
  // systemd also sets the directory for other credentials.
  if (credential && existsSync(credential)) return { file: credential, name: `systemd credential ${credentialName}`, kind: "credential" };
  const file = environment[fileVariable];
  if (file) return { file: path.resolve(cwd, file), name: fileVariable, kind: "file" };
  return { file: path.join(stateDirectory, ownSecretsKeyName), name: ownSecretsKeyName, kind: "own" };
}
