import { readFileSync, renameSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { exists, finish, syncFolder } from "../packages/transactions/journal.js";
import { BackupError } from "./backup-format.js";
import { giveTo } from "./give-to.js";

/**
 * Name of the file in the state directory that lists the steps of a restore. A restore is decided when this file exists. The daemon can
 * then complete the restore, but cannot revert it.
 */
export const pendingRestoreName = "restore.json";

const pendingSchema = z.object({
  /** Folders that must be created before the moves. */
  folders: z.array(z.string()),
  /**
   * Renames to perform in this order, with absolute paths. The first renames move the previous content away. The other renames move the new
   * content to its destination.
   */
  moves: z.array(z.object({ from: z.string(), to: z.string() })),
  /** Folders to delete after the renames: the staging folders, and the previous content unless the operator keeps it. */
  discarded: z.array(z.string()),
});

export type PendingRestore = z.infer<typeof pendingSchema>;

/** Writes and syncs the steps of a restore. After this call, a crash cannot prevent the restore, because the next start completes it. */
export async function decideRestore(stateDirectory: string, pending: PendingRestore): Promise<void> {
  const file = path.join(stateDirectory, pendingRestoreName);
  const handle = await open(`${file}~`, "w", 0o600);
  await finish(handle, () => handle.writeFile(JSON.stringify(pending)));
  await giveTo(stateDirectory, [`${file}~`]);
  await rename(`${file}~`, file);
  await syncFolder(stateDirectory);
}

/** Completes a decided restore. Returns false if no restore is decided. The caller must hold the lock of the state directory. */
export async function finishRestore(stateDirectory: string): Promise<boolean> {
  const file = path.join(stateDirectory, pendingRestoreName);
  if (!exists(file)) return false;
  try {
    const { folders, moves, discarded } = pendingSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    for (const folder of folders) await mkdir(folder, { recursive: true });
    for (const { from, to } of moves) {
      if (exists(from) && !exists(to)) renameSync(from, to);
      else if (!exists(to)) throw new Error(`${from} is missing`);
    }
    for (const folder of new Set(moves.flatMap(({ from, to }) => [path.dirname(from), path.dirname(to)]))) await syncFolder(folder);
    // Deletes the list of steps first. All remaining steps only delete folders that are no longer needed.
    await rm(file);
    await syncFolder(stateDirectory);
    for (const target of discarded) await rm(target, { recursive: true, force: true });
    return true;
  } catch (cause) {
    throw new BackupError(
      "RESTORE_UNFINISHED",
      `The restore that ${file} describes was interrupted and cannot be finished (${(cause as Error).message}). Some keys and packages are possibly not restored.`,
      { cause, hint: "make the directories in that file writable, then start the daemon again to complete the restore" },
    );
  }
}
