import { lstatSync, readFileSync, renameSync, rmSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";

const journalFileName = "journal.json";
const journalMode = 0o600;

/** Name prefix of staging folders that a restore uses. */
export const restorePrefix = "restore-";
/** The steps of one running change. If the daemon finds this file in a staging folder at its start, it completes the interrupted change. */
export interface Journal {
  /**
   * Renames of one change, with paths relative to the package directory. The last rename installs the new content. Empty in some journals
   * of earlier versions.
   */
  readonly moves: readonly Move[];
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Writes and syncs the journal in the staging folder. After this call, a crash does not prevent the change, because the next start
 * completes it.
 */
export async function writeJournal(stagedFolder: string, journal: Journal): Promise<void> {
  const file = await open(path.join(stagedFolder, journalFileName), "wx", journalMode);
  await finish(file, () => file.writeFile(JSON.stringify(journal)));
  await syncFolder(stagedFolder);
  await syncFolder(path.dirname(stagedFolder));
}

/** Reads the journal of a change. Returns undefined if the journal is missing or incomplete. In both cases, no rename has started. */
export function readJournal(stagedFolder: string): Journal | undefined {
  try {
    return JSON.parse(readFileSync(path.join(stagedFolder, journalFileName), "utf8")) as Journal;
  } catch {
    return undefined;
  }
}

/** Deletes the journal. Ignores an error, because a completed change can be completed again without an effect. */
export function removeJournal(stagedFolder: string): void {
  try {
    rmSync(path.join(stagedFolder, journalFileName), { force: true });
  } catch {
    // Ignores the error. The deletion of the staging folder also deletes the journal.
  }
}

/**
 * Performs all renames synchronously. Other code of this process therefore sees no intermediate state. If a rename fails, reverts the
 * earlier renames.
 */
export function performMoves(directory: string, moves: readonly Move[]): void {
  const done: Move[] = [];
  try {
    for (const move of moves) {
      renameSync(path.join(directory, move.from), path.join(directory, move.to));
      done.push(move);
    }
  } catch (error) {
    for (const move of done.toReversed()) renameSync(path.join(directory, move.to), path.join(directory, move.from));
    throw error;
  }
}

/** Performs the renames that an interrupted change has not performed. */
export async function rollForward(directory: string, journal: Journal): Promise<void> {
  const last = journal.moves.at(-1);
  if (!last || !exists(path.join(directory, last.from))) return;
  for (const move of journal.moves) {
    const from = path.join(directory, move.from);
    const to = path.join(directory, move.to);
    if (exists(from) && !exists(to)) renameSync(from, to);
  }
  await syncFolder(path.dirname(path.join(directory, last.to)));
}

/** Returns whether an entry with this path exists. Does not follow links. */
export function exists(target: string): boolean {
  return lstatSync(target, { throwIfNoEntry: false }) !== undefined;
}

/** Syncs a folder, so that created and renamed entries survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await finish(handle, () => Promise.resolve());
}

/** Writes, syncs and closes a file. */
export async function finish(file: FileHandle, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await file.sync();
  } finally {
    await file.close();
  }
}
