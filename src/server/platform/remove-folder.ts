import { constants } from "node:os";
import { spawnProcess, type SpawnedProcess } from "./spawner/spawner.js";
import { findSystemTool } from "./system-tool.js";
import { lowerPriority } from "./process-priority.js";
import { chmod, lstat, opendir, rmdir, unlink } from "node:fs/promises";
import path from "node:path";

/**
 * Deletes large folders one after another by a low-priority `rm` process. If the daemon itself deleted 10,000 files, its thread pool would
 * delay all other file access. The next start deletes the folders that remain at `close`.
 */
export class TreeRemover {
  readonly #program = findSystemTool("rm");
  #last: Promise<void> = Promise.resolve();
  #removal: SpawnedProcess | undefined;
  #isClosed = false;

  /** Deletes a folder. Settles when the folder is deleted, when the deletion fails, or at `close`. */
  remove(folder: string): Promise<void> {
    const removing = this.#last.then(() => (this.#isClosed ? undefined : this.#removeNow(folder)));
    this.#last = removing.catch(() => undefined);
    return removing;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#removal?.kill();
    await this.#last;
  }

  async #removeNow(folder: string): Promise<void> {
    if (this.#program !== undefined && (await this.#run(this.#program, folder))) return;
    if (!this.#isClosed) await removeTree(folder);
  }

  /** Deletes the folder with the program `rm`. Returns whether the program exited with status 0. */
  async #run(file: string, folder: string): Promise<boolean> {
    const removal = await spawnProcess({ file, args: ["-rf", "--", folder], workingDirectory: "/", descriptors: [] }).catch(
      () => undefined,
    );
    if (!removal) return false;
    this.#removal = removal;
    lowerPriority(removal.pid, constants.priority.PRIORITY_LOW);
    if (this.#isClosed) removal.kill();
    return (await removal.ended).status === 0;
  }
}

/**
 * Deletes a folder entry by entry. `rm` would queue all deletions at once and delay other disk access. Ignores missing entries. Stops after
 * `mostEntries` entries. Returns whether the whole folder is deleted.
 */
export async function removeTree(target: string, mostEntries = Infinity): Promise<boolean> {
  const stat = await lstat(target).catch(ignoreMissing);
  if (!stat) return true;
  if (!stat.isDirectory()) await unlink(target).catch(ignoreMissing);
  else return (await removeFolder(target, mostEntries)) <= mostEntries;
  return true;
}

/**
 * Returns the number of deleted entries, or a number above `mostEntries` if the deletion stopped early. Makes the folder writable if
 * necessary, because a worker can create a folder that even its owner cannot change.
 */
async function removeFolder(folder: string, mostEntries: number): Promise<number> {
  try {
    return await removeEntries(folder, mostEntries);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    await chmod(folder, 0o700);
    return await removeEntries(folder, mostEntries);
  }
}

async function removeEntries(folder: string, mostEntries: number): Promise<number> {
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
