import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.js";
import { isPathWithin } from "../../platform/path-within.js";
import type { TreeRemover } from "../../platform/remove-folder.js";
import { installDirectory, type PackageDirectory } from "../package-directories.js";
import type { Move } from "./journal.js";
import { StagingArea } from "./staging-area.js";
import type { Transaction } from "./transaction.js";

/**
 * Maximum time that the start and the stop of the daemon wait for the deletion of old folders. The deletion continues in the background or
 * at the next start.
 */
const longestCleanUpMs = 2_000;

/** The upload directories for one kind of package (workers or plugins), each with its staging area. */
export class InstallAreas {
  readonly #areas: ReadonlyMap<string, StagingArea>;

  /**
   * Opens and locks the directories, and completes or reverts changes that a crash interrupted. Throws DirectoryInUseError if another
   * process uses a directory.
   */
  static async open(options: { directories: readonly PackageDirectory[]; remover: TreeRemover; log: Log }): Promise<InstallAreas> {
    const { directories, remover, log } = options;
    const uploaded = directories.filter(({ source }) => source === "uploaded");
    const areas = new InstallAreas(uploaded.map(({ path: directory }) => new StagingArea({ directory, remover, log })));
    for (const area of areas.all()) await area.recover();
    await areas.settled();
    return areas;
  }

  private constructor(areas: readonly StagingArea[]) {
    this.#areas = new Map(areas.map((area) => [area.directory, area]));
  }

  all(): StagingArea[] {
    return [...this.#areas.values()];
  }

  /** Returns the staging area of an upload directory. */
  of(directory: string): StagingArea {
    const area = this.#areas.get(directory);
    if (!area) throw new Error(`${directory} is not a directory in which runtimed is allowed to install packages`);
    return area;
  }

  /** Returns the staging area in which new packages are installed. Returns undefined if no directory is writable. */
  async forInstalling(): Promise<StagingArea | undefined> {
    const directory = await installDirectory([...this.#areas.keys()]);
    return directory === undefined ? undefined : this.#areas.get(directory);
  }

  /** Unlocks the directories. The next start deletes the remaining folders. */
  async close(): Promise<void> {
    await this.settled();
    for (const area of this.all()) await area.close();
  }

  /** Waits until the running deletions end, for at most 2 s. */
  async settled(): Promise<void> {
    const settled = Promise.all(this.all().map((area) => area.settled()));
    await Promise.race([settled, delay(longestCleanUpMs, undefined, { ref: false })]);
  }
}

export interface RetireOptions {
  /**
   * Called after a package folder was replaced or removed. No new isolate must use the old content. Running isolates read from `movedTo`
   * until the promise resolves.
   */
  readonly retire: (folder: string, movedTo: string | undefined) => Promise<void>;
  readonly log: Log;
}

/** Calls `retire` for a replaced folder. Only logs an error, because the change has already happened. */
export async function retireFolder({ retire, log }: RetireOptions, folder: string, movedTo: string | undefined): Promise<void> {
  try {
    await retire(folder, movedTo);
  } catch (error) {
    log.error({ err: error, folder }, "the isolates of a replaced folder could not be stopped");
  }
}

/** Deletes the staging folder of a change when no isolate uses the replaced folders. Waits for the deletion only if `retiring` is empty. */
export async function discardAfter(retiring: readonly Promise<void>[], staged: Transaction): Promise<void> {
  const cleaned = Promise.all(retiring).then(() => staged.discard());
  if (retiring.length === 0) await cleaned;
}

/** Returns pairs of each moved path and its new path. */
export function movesOf(targets: readonly string[], movedTo: readonly string[]): Move[] {
  return targets.map((from, index) => ({ from, to: movedTo[index] as string }));
}

/** Returns the new path of a folder if the folder or its parent was moved. Otherwise returns undefined. */
export function newPath(folder: string, moves: readonly Move[]): string | undefined {
  const move = moves.find(({ from }) => isPathWithin(folder, from));
  return move && path.join(move.to, path.relative(move.from, folder));
}
