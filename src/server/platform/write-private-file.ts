import { open, rename, rm } from "node:fs/promises";
import path from "node:path";

/** Returns the path of the temporary file for a write. A crash can leave this file, and the next write replaces it. */
export function unnamedFileOf(file: string): string {
  return `${file}.new`;
}

/**
 * Replaces or creates a file that only its user can read (mode 0600). Readers see the old or the new text, also after a crash. The new text
 * is synced when the promise resolves. Never write the same file concurrently.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const unnamed = unnamedFileOf(file);
  try {
    await rm(unnamed, { force: true });
    const handle = await open(unnamed, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unnamed, file);
  } catch (error) {
    await rm(unnamed, { force: true });
    throw error;
  }
  const folder = await open(path.dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
