import { createHash } from "node:crypto";
import { hostname } from "node:os";
import path from "node:path";
import type { Config } from "./config/config.js";
import { installDirectory } from "./packages/package-directories.js";
import type { SlotDirectoryPaths } from "./workers/isolates/sandbox-folder.js";

/**
 * Returns the directory for sandbox folders. The directory is next to the packages, because hard links work only within one file system.
 * Undefined if no worker directory is writable.
 */
export async function slotsBesidePackages({ workerDirectories, stateDirectory }: Config): Promise<string | undefined> {
  const directory = await installDirectory(workerDirectories);
  return directory && path.join(path.resolve(directory), `.isolates-${daemonDigest(stateDirectory)}`);
}

export function slotDirectories(besidePackages: string | undefined, elsewhere: string): SlotDirectoryPaths {
  return besidePackages === undefined
    ? { slotsDirectory: elsewhere }
    : { slotsDirectory: besidePackages, fallbackSlotsDirectory: elsewhere };
}

/** Returns an identifier of this daemon for the names of folders outside its state directory. */
export function daemonDigest(stateDirectory: string): string {
  return createHash("sha256").update(`${hostname()}:${stateDirectory}`).digest("hex").slice(0, 16);
}
