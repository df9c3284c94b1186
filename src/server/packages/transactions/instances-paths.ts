import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";

/** In a directory of packages: what the instances that have it open know of each other. */
const instancesFolderName = ".instances";

export function instancesPaths(directory: string): { folder: string; lockFile: string; changesFile: string } {
  const folder = path.join(directory, instancesFolderName);
  return { folder, lockFile: path.join(folder, "lock"), changesFile: path.join(folder, "changes") };
}

/** In names of files; never given twice. */
export function newInstanceName(): string {
  return randomBytes(8).toString("hex");
}

/** Makes the file that is locked, by calls whose errors say what is wrong; the directory itself is not made. */
export function prepareLock(directory: string): void {
  const { folder, lockFile } = instancesPaths(directory);
  if (existsSync(lockFile)) return;
  makeFolder(folder);
  closeSync(openSync(lockFile, "a", 0o600));
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
