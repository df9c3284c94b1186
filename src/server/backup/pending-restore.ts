import { readFileSync, renameSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { exists, finish, syncFolder } from "../packages/transactions/journal.js";
import { BackupError } from "./backup-format.js";
import { giveTo } from "./give-to.js";

/** File in the state directory that exists from the time when a restore can only be completed. */
export const pendingRestoreName = "restore.json";

const pendingSchema = z.object({
  /** Folders to create before the moves. */
  folders: z.array(z.string()),
  /** Absolute paths: first the previous content, then the new content. */
  moves: z.array(z.object({ from: z.string(), to: z.string() })),
  /** Folders that the moves leave empty, and content that is not kept. */
  discarded: z.array(z.string()),
});

export type PendingRestore = z.infer<typeof pendingSchema>;

/** Writes and syncs the steps of a restore. From here on a crash leads to the restored state. */
export async function decideRestore(stateDirectory: string, pending: PendingRestore): Promise<void> {
  const file = path.join(stateDirectory, pendingRestoreName);
  const handle = await open(`${file}~`, "w", 0o600);
  await finish(handle, () => handle.writeFile(JSON.stringify(pending)));
  await giveTo(stateDirectory, [`${file}~`]);
  await rename(`${file}~`, file);
  await syncFolder(stateDirectory);
}

/** Completes a decided restore. Returns false without a decided restore. The caller must hold the lock of the state directory. */
export async function finishRestore(stateDirectory: string): Promise<boolean> {
  const file = path.join(stateDirectory, pendingRestoreName);
  if (!exists(file)) return false;
  try {
    const { folders, moves, discarded } = pendingSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    for (const folder of folders) await mkdir(folder, { recursive: true });
    for (const { from, to } of moves) {
      if (exists(from) && !exists(to)) renameSync(from, to);
      else if (!exists(to)) throw new Error(`${from} is gone`);
    }
    for (const folder of new Set(moves.flatMap(({ from, to }) => [path.dirname(from), path.dirname(to)]))) await syncFolder(folder);
    // Deleted first: the remaining steps can fail without harm.
    await rm(file);
    await syncFolder(stateDirectory);
    for (const target of discarded) await rm(target, { recursive: true, force: true });
    return true;
  } catch (cause) {
    throw new BackupError(
      "RESTORE_UNFINISHED",
      `The restore that ${file} describes was interrupted and cannot be finished (${(cause as Error).message}). Keys and packages may be in part those of before.`,
      { cause, hint: "make the directories in that file writable and start again: it is finished then" },
    );
  }
}
