import { closeSync, fsyncSync, openSync } from "node:fs";

/** Syncs the entries of a folder to the disk, so that they survive a power failure. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
