import { closeSync, fsyncSync, openSync } from "node:fs";

/** Syncs a folder to the disk, so that created and renamed entries survive a power failure. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
