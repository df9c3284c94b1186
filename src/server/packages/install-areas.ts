import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../observe/log.js";
import { installDirectory } from "./install-directory.js";
import type { PackageDirectory } from "./package-directories.js";
import { StagingArea } from "./staging-area.js";
import type { TreeRemover } from "./tree-remover.js";

/** How long starting and stopping wait for old folders to be deleted; what is left then goes on in the background, or goes at the next start. */
const longestCleanUpMs = 2_000;

/** The directories of one kind of package that may be changed, and where their changes are prepared. */
export class InstallAreas {
  readonly #areas: ReadonlyMap<string, StagingArea>;

  /** Finishes or undoes what a crash left in the directories. */
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

  /** Waits for the deletions that are under way, but not for long. */
  async settled(): Promise<void> {
    const settled = Promise.all(this.all().map((area) => area.settled()));
    await Promise.race([settled, delay(longestCleanUpMs, undefined, { ref: false })]);
  }
}
