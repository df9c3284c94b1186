import { readFileSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "./config-error.js";

/** A file that holds the root key, and what it is called in messages. */
export interface RootKeyFile {
  readonly name: string;
  readonly file: string;
}

const fileVariable = "RUNTIME_ROOT_KEY_FILE";
const sendableKey = /^[\x20-\x7e]{1,512}$/;

/** The root key, from the systemd credential, the file, or the variable. Throws ConfigError when it cannot be read or sent. */
export function readRootKey(environment: Readonly<Record<string, string | undefined>>): {
  rootKey: string | undefined;
  rootKeyFile: RootKeyFile | undefined;
} {
  const credentials = environment["CREDENTIALS_DIRECTORY"];
  const credential = credentials ? { name: "the systemd credential root-key", file: path.join(credentials, "root-key") } : undefined;
  // systemd sets the directory also for other credentials.
  const text = credential && readIfThere(credential.file);
  if (credential && text !== undefined) return { rootKey: soundKey(credential.name, text), rootKeyFile: credential };
  const file = environment[fileVariable];
  if (file) {
    const rootKeyFile = { name: fileVariable, file };
    return { rootKey: readRootKeyFile(rootKeyFile), rootKeyFile };
  }
  return { rootKey: soundKey("RUNTIME_ROOT_KEY", environment["RUNTIME_ROOT_KEY"]), rootKeyFile: undefined };
}

/** The key that a file holds now, undefined when that is none; throws ConfigError. */
export function readRootKeyFile({ name, file }: RootKeyFile): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(name, file, `the path of a file that can be read (${(cause as NodeJS.ErrnoException).code})`);
  }
  return soundKey(name, text);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** A key that no header could carry would refuse everybody without a word; surrounding white space is no part of it. */
function soundKey(source: string, text = ""): string | undefined {
  const key = text.trim();
  if (key === "") return undefined;
  if (!sendableKey.test(key)) throw new ConfigError(source, undefined, "a key of at most 512 printable ASCII characters, on one line");
  return key;
}
