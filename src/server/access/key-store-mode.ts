import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { writePrivateFile } from "../platform/write-private-file.js";
import type { KeyStoreState } from "./key-store.js";

/** Location of the keys: `local` = the state directory, `sync` = a primary with a replica in the state directory. */
export type KeyStoreMode = KeyStoreState["mode"];

/** Returns the database file that the daemon reads in each mode. */
export function keyStoreFiles(stateDirectory: string): Readonly<Record<KeyStoreMode, string>> {
  return { local: path.join(stateDirectory, "keys.db"), sync: path.join(stateDirectory, "replica", "current", "keys.db") };
}

/** Returns the file in the state directory that contains the mode of the daemon's last start. */
export function keyStoreModeFile(stateDirectory: string): string {
  return path.join(stateDirectory, "key-store-mode");
}

/**
 * Stores the mode in the state directory. Other programs, such as a backup, need it: after a change of the mode, the files of both modes
 * exist.
 */
export async function storeKeyStoreMode(stateDirectory: string, mode: KeyStoreMode): Promise<void> {
  if (storedKeyStoreMode(stateDirectory) !== mode) await writePrivateFile(keyStoreModeFile(stateDirectory), `${mode}\n`);
}

/** Returns the stored mode. Returns undefined if no daemon has started, or only a version that did not store the mode. */
export function storedKeyStoreMode(stateDirectory: string): KeyStoreMode | undefined {
  const file = keyStoreModeFile(stateDirectory);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8").trim();
  return text === "local" || text === "sync" ? text : undefined;
}
