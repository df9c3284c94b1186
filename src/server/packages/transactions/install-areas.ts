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

/** How often the changes of other instances are followed, a system call for each directory. */
const catchUpEveryMs = 500;
/** What other instances left behind is looked for less often. */
const catchUpsPerTidyUp = 4;
/** How long starting and stopping wait for old folders to be deleted; what is left then goes on in the background, or goes at the next start. */
const longestCleanUpMs = 2_000;

/** The directories of one kind of package that may be changed, and where their changes are prepared. */
export class InstallAreas {
  readonly #areas: ReadonlyMap<string, StagingArea>;
  readonly #timer: NodeJS.Timeout;
  #catchUps = 0;
  #isTidying = false;
  #nextLook: Promise<void> | undefined;

  /** Finishes or undoes what a crash left in the directories. From then on the followers are told what other instances do there. */
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

  /** The area of a directory that packages were uploaded to. */
  of(directory: string): StagingArea {
    const area = this.#areas.get(directory);
    if (!area) throw new Error(`${directory} is not a directory that may be changed`);
    return area;
  }

  /** Where uploads go; undefined when no directory can be written. */
  async forInstalling(): Promise<StagingArea | undefined> {
    const directory = await installDirectory([...this.#areas.keys()]);
    return directory === undefined ? undefined : this.#areas.get(directory);
  }

  /** Follows at once what other instances have changed: a caller may have been told by one of them. */
  catchUp(): void {
    for (const area of this.all()) area.catchUp();
  }

  /** The same for many callers: those who ask in one turn of the event loop share the look that comes after them all. */
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

  /** Stops following other instances, and is not seen by them any more. What is not deleted yet goes at the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.settled();
    for (const area of this.all()) await area.close();
  }

  /** Waits for the deletions that are under way, but not for long. */
  async settled(): Promise<void> {
    const settled = Promise.all(this.all().map((area) => area.settled()));
    await Promise.race([settled, delay(longestCleanUpMs, undefined, { ref: false })]);
  }
}

export interface Retiring {
  /** Called after a folder stopped being current: serve nothing new from it; what still runs reads from `movedTo` until the promise resolves. */
  readonly retire: (folder: string, movedTo: string | undefined) => Promise<void>;
  readonly log: Log;
}

/** Has what runs from a folder retired; never throws, since the change is done already. */
export async function retireFolder({ retire, log }: Retiring, folder: string, movedTo: string | undefined): Promise<void> {
  try {
    await retire(folder, movedTo);
  } catch (error) {
    log.error({ err: error, folder }, "what runs from a replaced folder could not be retired");
  }
}

/** Discards a change once nothing runs from the old folders any more; waits for that only when nothing does. */
export async function discardAfter(retiring: readonly Promise<void>[], staged: Transaction): Promise<void> {
  const cleaned = Promise.all(retiring).then(() => staged.discard());
  if (retiring.length === 0) await cleaned;
}

/** Targets that were moved, each with where it went. */
export function movesOf(targets: readonly string[], movedTo: readonly string[]): Move[] {
  return targets.map((from, index) => ({ from, to: movedTo[index] as string }));
}

/** Where a folder lies after it or one above it was moved; undefined when neither was. */
export function newPath(folder: string, moves: readonly Move[]): string | undefined {
  const move = moves.find(({ from }) => isPathWithin(folder, from));
  return move && path.join(move.to, path.relative(move.from, folder));
}
