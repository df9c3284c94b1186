import { readFileSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "./config-error.js";

/** The file of a secret, and its name in messages. */
export interface SecretFile {
  readonly name: string;
  readonly file: string;
}

/** The sources of a secret, and its form. */
export interface SecretForm {
  /** Name of the systemd credential. */
  readonly credential: string;
  /** Name of the variable that contains the secret. The variable with the suffix `_FILE` contains the path of its file. */
  readonly variable: string;
  readonly pattern: RegExp;
  /** Description of the accepted values. */
  readonly takes: string;
}

/** Reads a secret from the systemd credential, the file or the variable. Returns it with its file. Throws ConfigError. */
export function readSecret(
  environment: Readonly<Record<string, string | undefined>>,
  form: SecretForm,
): { secret: string | undefined; secretFile: SecretFile | undefined } {
  const credentials = environment["CREDENTIALS_DIRECTORY"];
  const credential = credentials
    ? { name: `the systemd credential ${form.credential}`, file: path.join(credentials, form.credential) }
    : undefined;
  // systemd also sets the directory for other credentials.
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

/** Returns the current secret in the file; undefined for an empty file. Throws ConfigError. */
export function readSecretFile({ name, file }: SecretFile, form: SecretForm): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(name, file, `the path of a file that can be read (${(cause as NodeJS.ErrnoException).code})`);
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

/** Removes surrounding white space. */
function soundSecret(source: string, { pattern, takes }: SecretForm, text = ""): string | undefined {
  const secret = text.trim();
  if (secret === "") return undefined;
  if (!pattern.test(secret)) throw new ConfigError(source, undefined, takes);
  return secret;
}
