import { makeDirectory } from "../platform/make-directory.js";
import { realDirectory } from "../platform/real-directory.js";
import type { Log } from "../log/log.js";
import { constants } from "node:fs";
import path from "node:path";
import type { PackageSource } from "./worker-version.js";
import { access, lstat, stat } from "node:fs/promises";

/** A directory whose subfolders are packages. */
export interface PackageDirectory {
  readonly path: string;
  readonly source: PackageSource;
}

/**
 * Returns the built-in directory and the configured directories without duplicates. A directory whose name begins with a dot is part of the
 * container image and counts as built-in.
 */
export function packageDirectories(builtInDirectory: string | undefined, configured: readonly string[]): PackageDirectory[] {
  const directories = new Map<string, PackageDirectory>();
  if (builtInDirectory !== undefined) {
    const builtIn = realDirectory(builtInDirectory);
    directories.set(builtIn, { path: builtIn, source: "built-in" });
  }
  for (const directory of configured) {
    const source = isUploadDirectory(directory) ? "uploaded" : "built-in";
    const real = realDirectory(directory);
    if (!directories.has(real)) directories.set(real, { path: real, source });
  }
  return [...directories.values()];
}

/** Returns whether the daemon can install uploads in a configured directory. */
export function isUploadDirectory(directory: string): boolean {
  return !path.basename(path.resolve(directory)).startsWith(".");
}

/**
 * Returns the first directory in which the daemon can install packages: a writable folder, or a missing folder whose parent is writable.
 */
export async function installDirectory(directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) if (await canInstallTo(directory)) return directory;
  return undefined;
}

async function canInstallTo(directory: string): Promise<boolean> {
  const isThere = await lstat(directory).then(
    () => true,
    () => false,
  );
  return await canWrite(isThere ? directory : path.dirname(directory));
}

async function canWrite(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

/** Creates missing directories. Logs a directory that cannot be created. */
export async function makeDirectories(directories: readonly string[], log: Log): Promise<void> {
  for (const directory of directories) {
    await makeDirectory(directory).catch((error: unknown) =>
      log.warn({ err: error, directory }, "configured directory is missing and cannot be created; create it or correct the configuration"),
    );
  }
}
