import { existsSync } from "node:fs";
import path from "node:path";

/** A file with the keys that encrypt secrets, one in each line: the first encrypts, the others only decrypt. */
export interface SecretsKeySource {
  readonly file: string;
  /** How messages and checks call the file. */
  readonly name: string;
  /** "own" = the file in the state directory, which the daemon creates and changes. The operator provides the others. */
  readonly kind: "credential" | "file" | "own";
}

const credentialName = "secrets-key";
const fileVariable = "RUNTIME_SECRETS_KEY_FILE";
/** In the state directory. */
const ownSecretsKeyName = "secrets.key";

/** Returns where the keys are: the systemd credential, the file of the variable, or the file in the state directory. */
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
