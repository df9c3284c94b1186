import { open, rename, rm } from "node:fs/promises";
import path from "node:path";

/** Returns the path of the temporary file for a write. After a crash, this file can remain until the next write replaces it. */
export function unnamedFileOf(file: string): string {
  return `${file}.new`;
}

/**
 * Creates or replaces a file that only its owner can read (mode 0600). Readers see the old or the new text, even after a crash. Resolves
 * after the sync. Two writes of one file must not run at the same time.
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
