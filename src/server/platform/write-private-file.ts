import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";

/**
 * Replaces or creates a file that only its user can read (mode 0600). Readers see the old or the new text, also after a crash; the new text
 * is durable when the promise resolves.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const unnamed = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
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
