import { existsSync, renameSync } from "node:fs";
import path from "node:path";
import { settleKeyDatabase } from "../access/key-database.js";
import { keyStoreModeFile, storeKeyStoreMode } from "../access/key-store-mode.js";
import { PrimaryError } from "../access/replica/primary-client.js";
import type { MigratedKeys } from "../../shared/backup-program.js";
import { moveKeys, PrimaryHasKeysError } from "../access/replica/move-keys.js";
import { ConfigError } from "../config/config-error.js";
import { valueOf } from "../config/config-variables.js";
import type { Directories } from "../config/directories.js";
import { syncFolder } from "../packages/transactions/journal.js";
import { readSource, type PrimarySource } from "../config/primary-source.js";
import { NewerStateError } from "../config/newer-state-error.js";
import { BackupError, newerKeyStore } from "./backup-format.js";
import { giveTo } from "./give-to.js";
import { lockState } from "./lock-state.js";

/**
 * Moves the keys of a local key store into a primary without keys. Then renames the local key store, so that no daemon opens it by mistake.
 */
export async function migrateKeys(
  { stateDirectory }: Directories,
  environment: Readonly<Record<string, string | undefined>>,
  { isDryRun }: { isDryRun: boolean },
): Promise<MigratedKeys> {
  const source = readPrimary(environment);
  const file = path.join(stateDirectory, "keys.db");
  if (!existsSync(file))
    throw new BackupError("STATE_NOT_FOUND", `there is no local key store in ${stateDirectory}; nothing was changed`, {
      hint: "set the daemon's state directory with --state-dir or --service; keys that were moved earlier are in keys-moved-TIME.db there",
    });
  const lock = lockState(stateDirectory);
  try {
    const moved = await moveKeys(file, source, { isDryRun }).catch((error: unknown) => {
      throw explained(error);
    });
    if (isDryRun) return { ...moved, primary: source.url, keptAs: undefined };
    const keptAs = path.join(stateDirectory, `keys-moved-${new Date().toISOString().replaceAll(/[:.]/g, "-")}.db`);
    // Merges the write-ahead log into the database file first, because the rename does not include the log.
    settleKeyDatabase(file);
    renameSync(file, keptAs);
    await syncFolder(stateDirectory);
    // From now on, a backup reads the replica, and a restore of keys is not possible.
    await storeKeyStoreMode(stateDirectory, "sync");
    await giveTo(stateDirectory, [keyStoreModeFile(stateDirectory)]);
    return { ...moved, primary: source.url, keptAs };
  } finally {
    lock.release();
  }
}

function readPrimary(environment: Readonly<Record<string, string | undefined>>): PrimarySource {
  try {
    return readSource(environment, (name) => valueOf(environment, name));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new BackupError("PRIMARY_NOT_SET", `${error.message} Nothing was changed.`, { cause: error });
  }
}

function explained(error: unknown): unknown {
  if (error instanceof NewerStateError) return newerKeyStore(error, "nothing was changed");
  if (error instanceof PrimaryHasKeysError)
    return new BackupError("PRIMARY_HAS_KEYS", `${error.message}; nothing was changed`, {
      cause: error,
      hint: "keys can be moved only once, from one daemon; create the keys of other daemons again",
    });
  if (error instanceof PrimaryError)
    return new BackupError("PRIMARY_UNAVAILABLE", `the primary ${error.message}; nothing was changed`, { cause: error });
  return error;
}
