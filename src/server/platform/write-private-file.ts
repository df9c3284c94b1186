import { open, rename, rm } from "node:fs/promises";
import path from "node:path";

/** A crash can leave this file beside the file that is written; the next write replaces it. */
export function unnamedFileOf(file: string): string {
  return `${file}.new`;
}

/**
 * Replaces or creates a file that only its user can read (mode 0600). Readers see the old or the new text, also after a crash; the new text
 * is durable when the promise resolves. Only one write of the same file at a time.
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
