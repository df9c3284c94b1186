import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { isStorageFull } from "../../platform/storage-full.js";
import type { PeerChange } from "./change-log.js";

const journalFileName = "journal.json";
const journalMode = 0o600;

const separator = ".";
/** What a restore of a backup has in there. */
export const restorePrefix = "restore-";
/** In the folder of a change: what was there before, when it was replaced, and when it was taken away. */
export const replacedName = "replaced";
export const takenPrefix = "taken";
/** What is prepared there; files that are removed go into it. */
export const contentName = "content";

/**
 * What is being done to a directory, in the folder of the change; there only while its instance holds the directory. So whoever holds it
 * and finds the journal of another knows that this one was cut off.
 */
export interface Journal {
  /** Renames that belong together, by paths below the directory; the last one brings in what is new. None: one step does it all. */
  readonly moves: readonly Move[];
  /** What other instances are to be told. */
  readonly change?: PeerChange;
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Puts the journal on stable storage, in the staged folder. From here on a crash leads to the new state. */
export async function writeJournal(stagedFolder: string, journal: Journal): Promise<void> {
  const file = await open(path.join(stagedFolder, journalFileName), "wx", journalMode);
  await finish(file, () => file.writeFile(JSON.stringify(journal)));
  await syncFolder(stagedFolder);
  await syncFolder(path.dirname(stagedFolder));
}

/** For a change that needs none but for those who live on when this process is killed: what is to be deleted from a full disk is deleted without. */
export function noteChange(stagedFolder: string, change: PeerChange): void {
  const journal: Journal = { moves: [], change };
  try {
    writeFileSync(path.join(stagedFolder, journalFileName), JSON.stringify(journal), { mode: journalMode });
  } catch (error) {
    if (!isStorageFull(error)) throw error;
  }
}

/** Undefined when it is not there, or was cut off before the first move. */
export function readJournal(stagedFolder: string): Journal | undefined {
  try {
    return JSON.parse(readFileSync(path.join(stagedFolder, journalFileName), "utf8")) as Journal;
  } catch {
    return undefined;
  }
}

/** From here on a crash neither finishes nor tells the change again; to do so would do no harm. */
export function removeJournal(stagedFolder: string): void {
  try {
    rmSync(path.join(stagedFolder, journalFileName), { force: true });
  } catch {
    // It goes with its folder.
  }
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

/** The name of a folder in `.staging`, which tells whose it is. */
export function stagedName(instance: string, change: string): string {
  return instance + separator + change;
}

export function instanceOf(name: string): string {
  return name.split(separator, 1)[0] ?? "";
}

export function isOfRestore(name: string): boolean {
  return name.startsWith(restorePrefix);
}

/** Whether there is something in it that was served, and that isolates of the old code may read from. */
export function holdsOldContent(folder: string): boolean {
  return (
    namesIn(folder).some((name) => name === replacedName || name.startsWith(takenPrefix)) ||
    namesIn(path.join(folder, contentName)).some((name) => name === takenPrefix)
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
