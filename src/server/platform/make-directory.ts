import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Makes a directory, and those above it with the usual mode; what is there stays as it is. Node's own `recursive` does not end below /proc, where a folder
 * that exists says of a new one that it is missing.
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await isDirectory(directory))) return;
    const parent = path.dirname(directory);
    if (code !== "ENOENT" || parent === directory || (await isDirectory(parent))) throw error;
    await makeDirectory(parent);
    await mkdir(directory, { mode });
  }
}

async function isDirectory(target: string): Promise<boolean> {
  return await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
