import { lstatSync, renameSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";

export const journalFileName = "journal.json";

/** Renames that belong together, by paths below the directory; the last one brings in what is new. */
export interface Journal {
  readonly moves: readonly Move[];
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Puts the journal on stable storage, in the staged folder. From here on a crash leads to the new state. */
export async function writeJournal(stagedFolder: string, journal: Journal): Promise<void> {
  const file = await open(path.join(stagedFolder, journalFileName), "wx", 0o600);
  await finish(file, () => file.writeFile(JSON.stringify(journal)));
  await syncFolder(stagedFolder);
  await syncFolder(path.dirname(stagedFolder));
}

/** Does the moves back to back, so that nothing else of this process sees a state in between; undoes them when one fails. */
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

/** Does those moves of an interrupted change that were not yet done. */
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

/** Links count as themselves. */
export function exists(target: string): boolean {
  return lstatSync(target, { throwIfNoEntry: false }) !== undefined;
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await finish(handle, () => Promise.resolve());
}

/** Makes what was written durable, then closes. */
export async function finish(file: FileHandle, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await file.sync();
  } finally {
    await file.close();
  }
}
