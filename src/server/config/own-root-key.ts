import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "./config.js";
import { readRootKeyFile, type RootKeyFile } from "./root-key-source.js";
import { openStateDirectory } from "./state-directory.js";

const keyBytes = 32;
/** In the state directory. */
export const ownRootKeyName = "root.key";

/** Where a daemon that was given no root key keeps its own; the last place where one is looked for. */
export function ownRootKeyFile(stateDirectory: string): RootKeyFile {
  return { name: "the root key of the state directory", file: path.join(stateDirectory, ownRootKeyName) };
}

/** Writes a new root key to a file that its user alone may read, unless the file is there. */
export async function makeRootKeyFile(file: string): Promise<void> {
  // "wx" never replaces a key that clients already use.
  await writeFile(file, `${randomBytes(keyBytes).toString("base64url")}\n`, { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** Makes a root key in the state directory, unless there is one by now, and returns the configuration with it. */
export async function makeOwnRootKey(config: Config): Promise<Config> {
  await openStateDirectory(config.stateDirectory);
  const rootKeyFile = ownRootKeyFile(config.stateDirectory);
  await makeRootKeyFile(rootKeyFile.file);
  return { ...config, rootKey: readRootKeyFile(rootKeyFile), rootKeyFile };
}
