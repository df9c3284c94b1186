import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import path from "node:path";

/**
 * Deletes a folder, a file or a link, one entry after the other: `rm` asks for all of a folder at once, and then everything else that
 * waits for the disk waits behind thousands of deletions. `first` is deleted before all else. What is gone already is no failure.
 */
export async function removeTree(target: string, options: { first?: string } = {}): Promise<void> {
  if (options.first !== undefined) await unlink(path.join(target, options.first)).catch(ignoreMissing);
  const stat = await lstat(target).catch(ignoreMissing);
  if (!stat) return;
  if (!stat.isDirectory()) return await unlink(target).catch(ignoreMissing);
  for (const entry of await readdir(target, { withFileTypes: true })) {
    const child = path.join(target, entry.name);
    if (entry.isDirectory()) await removeTree(child);
    else await unlink(child).catch(ignoreMissing);
  }
  await rmdir(target).catch(ignoreMissing);
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
