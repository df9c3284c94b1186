import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.js";
import { installDirectory, type PackageDirectory } from "../package-directories.js";
import type { ChangeFollower } from "./change-log.js";
import { StagingArea } from "./staging-area.js";
import type { TreeRemover } from "../../platform/remove-folder.js";
import type { Transaction } from "./transaction.js";
import path from "node:path";
import type { Move } from "./journal.js";
import { isPathWithin } from "../../platform/path-within.js";

/** Interval in ms at which the daemon reads the changes of other daemons. One read takes one system call per directory. */
const catchUpEveryMs = 500;
/** Number of reads after which the daemon looks for leftovers of stopped daemons. */
const catchUpsPerTidyUp = 4;
/**
 * Maximum time that the start and the stop of the daemon wait for the deletion of old folders. The deletion continues in the background or
 * at the next start.
 */
const longestCleanUpMs = 2_000;

/** The upload directories for one kind of package (workers or plugins), each with its staging area. */
export class InstallAreas {
  readonly #areas: ReadonlyMap<string, StagingArea>;
  readonly #timer: NodeJS.Timeout;
  #catchUps = 0;
  #isTidying = false;
  #nextLook: Promise<void> | undefined;

  /**
   * Opens the directories, and completes or reverts changes that a crash interrupted. From then on, `follow` receives the changes of other
   * daemons.
   */
  static async open(options: {
    directories: readonly PackageDirectory[];
    follower: (directory: string) => ChangeFollower;
    remover: TreeRemover;
    log: Log;
  }): Promise<InstallAreas> {
    const { directories, follower, remover, log } = options;
    const uploaded = directories.filter(({ source }) => source === "uploaded");
    const areas = uploaded.map(({ path: directory }) => new StagingArea({ directory, follower: follower(directory), remover, log }));
    for (const area of areas) await area.recover();
    const opened = new InstallAreas(areas, log);
    await opened.settled();
    return opened;
  }

  private constructor(areas: readonly StagingArea[], log: Log) {
    this.#areas = new Map(areas.map((area) => [area.directory, area]));
    this.#timer = setInterval(() => void this.#look(log), catchUpEveryMs).unref();
  }

  async #look(log: Log): Promise<void> {
    this.catchUp();
    this.#catchUps += 1;
    if (this.#isTidying || this.#catchUps % catchUpsPerTidyUp !== 0) return;
    this.#isTidying = true;
    for (const area of this.all())
      await area.tidyUp().catch((error: unknown) => log.warn({ err: error }, "what another instance left cannot be seen to"));
    this.#isTidying = false;
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

  /** Reads the changes of other daemons immediately. A client of another daemon can already have seen these changes. */
  catchUp(): void {
    for (const area of this.all()) area.catchUp();
  }

  /** Reads the changes of other daemons like `catchUp`. All calls in the same turn of the event loop share one read. */
  caughtUp(): Promise<void> {
    this.#nextLook ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#nextLook = undefined;
        this.catchUp();
        resolve();
      });
    });
    return this.#nextLook;
  }

  /**
   * Ends the reading of changes and removes this daemon from the registry of each directory. The next start deletes the remaining folders.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.settled();
    for (const area of this.all()) await area.close();
  }

  /** Waits until the running deletions end, for at most 2 s. */
  async settled(): Promise<void> {
    const settled = Promise.all(this.all().map((area) => area.settled()));
    await Promise.race([settled, delay(longestCleanUpMs, undefined, { ref: false })]);
  }
}

export interface Retiring {
  /**
   * Called after a package folder was replaced or removed. No new isolate must use the old content. Running isolates read from `movedTo`
   * until the promise resolves.
   */
  readonly retire: (folder: string, movedTo: string | undefined) => Promise<void>;
  readonly log: Log;
}

/** Calls `retire` for a replaced folder. Only logs an error, because the change has already happened. */
export async function retireFolder({ retire, log }: Retiring, folder: string, movedTo: string | undefined): Promise<void> {
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
