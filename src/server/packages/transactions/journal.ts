import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { isStorageFull } from "../../platform/storage-full.js";
import type { PeerChange } from "./change-log.js";

const journalFileName = "journal.json";
const journalMode = 0o600;

const separator = ".";
/** Name prefix of staging folders that a restore uses. */
export const restorePrefix = "restore-";
/** Names for previous content in a staging folder: `replaced` after a replacement, and `taken` or `taken-<index>` after a removal. */
export const replacedName = "replaced";
export const takenPrefix = "taken";
/** Name of the prepared content in a staging folder. Deleted files are moved into this folder. */
export const contentName = "content";

/**
 * The steps of a running change, stored in its staging folder while its daemon holds the lock. A daemon that holds the lock and finds the
 * journal of another daemon completes that interrupted change.
 */
export interface Journal {
  /**
   * Renames of one change, with paths relative to the package directory. The last rename installs the new content. Empty if a crash leaves
   * nothing to complete.
   */
  readonly moves: readonly Move[];
  /** Report of the change to other daemons. */
  readonly change?: PeerChange;
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Writes and syncs the journal in the staging folder. If the daemon crashes after this call, the change is completed later. */
export async function writeJournal(stagedFolder: string, journal: Journal): Promise<void> {
  const file = await open(path.join(stagedFolder, journalFileName), "wx", journalMode);
  await finish(file, () => file.writeFile(JSON.stringify(journal)));
  await syncFolder(stagedFolder);
  await syncFolder(path.dirname(stagedFolder));
}

/**
 * Stores the change in a journal without a sync. If this process is killed, another daemon reports the change. Ignores a full disk, so that
 * deletions still work.
 */
export function noteChange(stagedFolder: string, change: PeerChange): void {
  const journal: Journal = { moves: [], change };
  try {
    writeFileSync(path.join(stagedFolder, journalFileName), JSON.stringify(journal), { mode: journalMode });
  } catch (error) {
    if (!isStorageFull(error)) throw error;
  }
}

/** Reads the journal of a change. Returns undefined if the journal is missing or incomplete, which means that no rename has started. */
export function readJournal(stagedFolder: string): Journal | undefined {
  try {
    return JSON.parse(readFileSync(path.join(stagedFolder, journalFileName), "utf8")) as Journal;
  } catch {
    return undefined;
  }
}

/** Deletes the journal. Ignores an error, because completing the same change again has no effect. */
export function removeJournal(stagedFolder: string): void {
  try {
    rmSync(path.join(stagedFolder, journalFileName), { force: true });
  } catch {
    // Ignores the error, because the later deletion of the folder also deletes the journal.
  }
}

/**
 * Performs all renames synchronously, so that no other code of this process sees an intermediate state. If a rename fails, reverts the
 * previous renames.
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

/** Performs the missing renames of an interrupted change. */
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

/** Returns whether a path exists. Does not follow links. */
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

/** Returns the name of a staging folder, which starts with the identifier of its daemon. */
export function stagedName(instance: string, change: string): string {
  return instance + separator + change;
}

export function instanceOf(name: string): string {
  return name.split(separator, 1)[0] ?? "";
}

export function isOfRestore(name: string): boolean {
  return name.startsWith(restorePrefix);
}

/** Returns whether a staging folder contains replaced or removed content, which isolates can still read. */
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
