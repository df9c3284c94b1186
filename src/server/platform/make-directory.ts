import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Creates a directory with `mode`, and missing parents with the default mode. Existing directories stay unchanged. Avoids the option
 * `recursive` of Node.js, which never returns below /proc, where mkdir reports ENOENT for an existing parent.
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

/**
 * Creates a directory with `mode` in an existing directory. An existing directory stays unchanged. Rejects with ENOENT if the parent is
 * missing. If the parent's file system is not mounted, no files are then written to the wrong file system.
 */
export async function makeSubdirectory(directory: string, mode: number): Promise<void> {
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

async function isDirectory(target: string): Promise<boolean> {
  return await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
