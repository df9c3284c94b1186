import { closeSync, fsyncSync, openSync } from "node:fs";

/** Syncs the names in a folder. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
