import { existsSync } from "node:fs";
import { keyStoreFiles, storedKeyStoreMode, type KeyStoreMode } from "../access/key-store-mode.js";
import type { Environment } from "../config/config-variables.js";
import { configuredMode } from "../config/primary-source.js";

/** Returns the mode in which the daemon of a state directory used its key store last, which is the mode of a running daemon. */
export function lastMode(stateDirectory: string, environment: Environment): KeyStoreMode {
  return storedKeyStoreMode(stateDirectory) ?? configuredMode(environment) ?? modeOfFiles(stateDirectory);
}

/** Returns the mode in which the next start of the daemon uses its key store, if the environment is that of the daemon. */
export function nextMode(stateDirectory: string, environment: Environment): KeyStoreMode {
  return configuredMode(environment) ?? storedKeyStoreMode(stateDirectory) ?? modeOfFiles(stateDirectory);
}

/** Guesses the mode of an earlier version, which did not store it. With both files, the local one is usually older than the primary. */
function modeOfFiles(stateDirectory: string): KeyStoreMode {
  return existsSync(keyStoreFiles(stateDirectory).sync) ? "sync" : "local";
}
