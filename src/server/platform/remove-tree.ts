import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import path from "node:path";

/**
 * Deletes a folder, a file or a link, one entry after the other: `rm` asks for all of a folder at once, and then everything else that
 * waits for the disk waits behind thousands of deletions. What is gone already is no failure. Stops after `mostEntries`; answers
 * whether all is gone.
 */
export async function removeTree(target: string, mostEntries = Infinity): Promise<boolean> {
  const stat = await lstat(target).catch(ignoreMissing);
  if (!stat) return true;
  if (!stat.isDirectory()) await unlink(target).catch(ignoreMissing);
  else return (await removeFolder(target, mostEntries)) <= mostEntries;
  return true;
}

/** Returns how many entries there were, one more than `mostEntries` when it stopped. */
async function removeFolder(folder: string, mostEntries: number): Promise<number> {
  let count = 0;
  const entries = await opendir(folder).catch(ignoreMissing);
  for await (const entry of entries ?? []) {
    count += 1;
    if (count > mostEntries) return count;
    const child = path.join(folder, entry.name);
    if (entry.isDirectory()) count += await removeFolder(child, mostEntries - count);
    else await unlink(child).catch(ignoreMissing);
    if (count > mostEntries) return count;
  }
  await rmdir(folder).catch(ignoreMissing);
  return count;
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
