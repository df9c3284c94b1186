import { lstatSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { chmod, mkdir, open, rename } from "node:fs/promises";
import path from "node:path";
import { exists, finish, performMoves, removeJournal, syncFolder, writeJournal, type Move } from "./journal.js";
import type { StagingArea } from "./staging-area.js";
import { asStorageFailure } from "../../platform/storage-full.js";

interface Placement {
  readonly from: string;
  readonly target: string;
  readonly nest?: { readonly folder: string; readonly as: string } | undefined;
  /** A file of another package that the same change writes. */
  readonly alsoWritten?: { readonly file: string; readonly text: string } | undefined;
}

/**
 * One change to a package directory. It is prepared in a staging folder, synced and made visible by renames. After `kill -9` or a power
 * failure, each package is therefore entirely old or entirely new.
 */
export class Transaction {
  readonly #area: StagingArea;
  readonly #folder: string;

  constructor(options: { area: StagingArea; folder: string }) {
    this.#area = options.area;
    this.#folder = options.folder;
  }

  /**
   * Creates an empty folder for unpacked files. Only the daemon's user can read it. Isolates with other user ids read the files through
   * hard links or an explicit permission.
   */
  async makeContentFolder(): Promise<string> {
    const content = this.#inside("content");
    await mkdir(content, { mode: 0o700 });
    return content;
  }

  /**
   * Renames `from` to `target`. `nest` first moves the package in `nest.folder` to its subfolder `nest.as`. Writes `alsoWritten` in the
   * same change. Then calls `onPlaced` with the new path of the old content. Must run within `exclusively`.
   */
  async place(placement: Placement, onPlaced: (movedTo: string | undefined) => void): Promise<void> {
    const { moves, movedTo } = await this.#prepare(placement);
    const all = [...(placement.alsoWritten ? await this.#prepareReplacement(placement.alsoWritten) : []), ...moves];
    try {
      await writeJournal(this.#folder, { moves: all });
      performMoves(this.#area.directory, all);
      onPlaced(movedTo);
      await syncFolder(path.dirname(this.#absolute((moves.at(-1) as Move).to)));
    } finally {
      removeJournal(this.#folder);
    }
  }

  /** Moves folders to the staging folder, each by one rename. In the same turn of the event loop, calls `onTaken` with the new paths. */
  async takeAway(targets: readonly string[], onTaken: (movedTo: string[]) => void): Promise<void> {
    const moves = targets.map((target, index) => ({
      from: this.#relative(target),
      to: this.#relative(this.#inside(`taken-${index}`)),
    }));
    performMoves(this.#area.directory, moves);
    const parents = new Set(targets.map((target) => this.#removeEmptyParents(target)));
    onTaken(moves.map((move) => this.#absolute(move.to)));
    for (const parent of parents) if (exists(parent)) await syncFolder(parent);
  }

  /** Creates or replaces a file of a package. A reader sees either the old or the new text. */
  async writeFile(target: string, text: string, onWritten?: () => void): Promise<void> {
    renameSync(await this.#prepareFile(target, text), target);
    onWritten?.();
    await syncFolder(path.dirname(target));
  }

  /** Deletes the staging folder of this change. */
  discard(): Promise<void> {
    return this.#area.discard(this.#folder);
  }

  /**
   * Returns the renames that create or replace a file. The old file is moved to the staging folder, so that the renames can be reverted.
   */
  async #prepareReplacement({ file, text }: { file: string; text: string }): Promise<Move[]> {
    const prepared = { from: this.#relative(await this.#prepareFile(file, text)), to: this.#relative(file) };
    await syncFolder(this.#folder);
    return exists(file) ? [{ from: prepared.to, to: this.#relative(this.#inside("previous-file")) }, prepared] : [prepared];
  }

  async #prepareFile(target: string, text: string): Promise<string> {
    const prepared = this.#inside("file");
    const mode = (lstatSync(target, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
    const file = await open(prepared, "wx", mode);
    await finish(file, async () => {
      await file.writeFile(text);
      await file.chmod(mode);
    });
    return prepared;
  }

  async #prepare(change: Placement) {
    const obstacle = this.#firstObstacle(change.target, change.nest?.folder);
    const moves: Move[] = [];
    let movedTo: string | undefined;
    let prepared = change.from;
    if (obstacle !== change.target) prepared = await this.#wrap(change.from, path.relative(obstacle, change.target));
    await syncFolder(path.dirname(prepared));
    if (exists(obstacle)) {
      const nested = change.nest && path.join(change.nest.folder, change.nest.as);
      const keepsNested = nested !== undefined && nested !== change.target;
      const aside = keepsNested ? path.join(prepared, change.nest?.as ?? "") : this.#inside("replaced");
      movedTo = keepsNested ? nested : aside;
      moves.push({ from: this.#relative(obstacle), to: this.#relative(aside) });
    }
    moves.push({ from: this.#relative(prepared), to: this.#relative(obstacle) });
    return { moves, movedTo };
  }

  /**
   * Follows the path from the package directory to the target. Returns the first path that is `nestedFolder` or is no folder. If there is
   * no such path, returns the target.
   */
  #firstObstacle(target: string, nestedFolder: string | undefined): string {
    let current = this.#area.directory;
    for (const segment of path.relative(this.#area.directory, target).split(path.sep)) {
      current = path.join(current, segment);
      if (current === target || current === nestedFolder) break;
      if (!lstatSync(current, { throwIfNoEntry: false })?.isDirectory()) break;
    }
    return current;
  }

  /** Moves a staged folder into new parent folders. One rename then installs all of them. */
  async #wrap(from: string, innerPath: string): Promise<string> {
    const wrapped = this.#inside("wrapped");
    const inner = path.join(wrapped, innerPath);
    const parents = [path.dirname(inner)];
    while (parents[0] !== wrapped) parents.unshift(path.dirname(parents[0] as string));
    for (const parent of parents) await makeFolder(parent);
    await rename(from, inner);
    for (const parent of parents.toReversed()) await syncFolder(parent);
    return wrapped;
  }

  /**
   * Deletes the parent folders of a removed folder if they are empty, such as the worker folder and the scope folder. Returns the first
   * parent folder that still exists.
   */
  #removeEmptyParents(target: string): string {
    let parent = path.dirname(target);
    while (parent !== this.#area.directory && isEmptyOrGone(parent)) {
      if (exists(parent)) rmdirSync(parent);
      parent = path.dirname(parent);
    }
    return parent;
  }

  #inside(name: string): string {
    return path.join(this.#folder, name);
  }

  #absolute(relativePath: string): string {
    return path.join(this.#area.directory, relativePath);
  }

  #relative(absolutePath: string): string {
    return path.relative(this.#area.directory, absolutePath);
  }
}

/** Creates a folder that isolates with other user ids can enter. The umask of the daemon has no effect. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
}

function isEmptyOrGone(folder: string): boolean {
  return !exists(folder) || readdirSync(folder).length === 0;
}

/** Runs a change in a new staging folder. If the change fails, deletes the folder. Converts an error about a full disk to an ApiError. */
export async function inTransaction<Result>(area: StagingArea, change: (staged: Transaction) => Promise<Result>): Promise<Result> {
  let staged: Transaction | undefined;
  try {
    staged = await area.begin();
    return await change(staged);
  } catch (error) {
    await staged?.discard();
    throw asStorageFailure(error);
  }
}
