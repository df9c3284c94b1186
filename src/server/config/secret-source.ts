import { readFileSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "./config-error.js";

/** The file that contains a secret, and the name of the file in error messages. */
export interface SecretFile {
  readonly name: string;
  readonly file: string;
}

/** The sources of a secret, and the accepted form of its value. */
export interface SecretForm {
  /** Name of the systemd credential. */
  readonly credential: string;
  /**
   * Name of the environment variable that contains the secret. The variable with the suffix `_FILE` contains the path of a file with the
   * secret.
   */
  readonly variable: string;
  readonly pattern: RegExp;
  /** Description of the accepted values, for error messages. */
  readonly takes: string;
}

/**
 * Reads a secret from the systemd credential, the file or the environment variable. Returns the secret and its file. Throws ConfigError.
 */
export function readSecret(
  environment: Readonly<Record<string, string | undefined>>,
  form: SecretForm,
): { secret: string | undefined; secretFile: SecretFile | undefined } {
  const credentials = environment["CREDENTIALS_DIRECTORY"];
  const credential = credentials
    ? { name: `the systemd credential ${form.credential}`, file: path.join(credentials, form.credential) }
    : undefined;
  // Ignores a missing file, because systemd also sets CREDENTIALS_DIRECTORY for other credentials.
  const text = credential && readIfThere(credential.file);
  if (credential && text !== undefined) return { secret: soundSecret(credential.name, form, text), secretFile: credential };
  const fileVariable = `${form.variable}_FILE`;
  const file = environment[fileVariable];
  if (file) {
    const secretFile = { name: fileVariable, file };
    return { secret: readSecretFile(secretFile, form), secretFile };
  }
  return { secret: soundSecret(form.variable, form, environment[form.variable]), secretFile: undefined };
}

/** Returns the current secret in the file, or undefined for an empty file. Throws ConfigError. */
export function readSecretFile({ name, file }: SecretFile, form: SecretForm): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(name, file, `the path of a file that the daemon can read (error: ${(cause as NodeJS.ErrnoException).code})`);
  }
  return soundSecret(name, form, text);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Returns the secret without white space around it. Returns undefined for an empty text. Throws a ConfigError if the secret does not have
 * the accepted form.
 */
function soundSecret(source: string, { pattern, takes }: SecretForm, text = ""): string | undefined {
  const secret = text.trim();
  if (secret === "") return undefined;
  if (!pattern.test(secret)) throw new ConfigError(source, undefined, takes);
  return secret;
}
