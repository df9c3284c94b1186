import type { Log } from "../log/log.js";
import { statfsSync, watch, type FSWatcher } from "node:fs";

const tickMs = 200;
const ticksPerRound = 8;
/** Maximum number of checks per tick. They take about 1 ms. */
const mostLooksPerTick = 100;
/** Maximum duration of a tick. The next tick continues the work. */
const longestTickMs = 10;
/** Pause between complete checks while every folder is watched. The checks remain necessary because the kernel can lose a notification. */
const restMs = 30_000;

/** Magic numbers of local file systems, whose changes the kernel reports (statfs(2)): ext, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630]);

/** A check of one folder of the catalog. */
export interface Look {
  /** The checked folder. */
  readonly path: string;
  /** Checks the folder and returns the outdated folders. Undefined when a change must be confirmed by the next check, with `isSure`. */
  take(isSure: boolean): string[] | undefined;
  /** Returns the folders whose notifications replace this check; undefined when notifications cannot replace it. */
  watchable(): readonly string[] | undefined;
}

interface Looks {
  looks(): Iterator<Look>;
  /** Returns the check of a folder; undefined for a folder outside the catalog. */
  lookAt(path: string): Look | undefined;
  readonly lookCount: number;
}

/**
 * Finds changes on the disk within 2 s, or 4 s with 2,000 workers. Checks the whole catalog after a notification of the kernel and every 30
 * s. If a folder cannot be watched, checks without a pause.
 */
export class CatalogPoll {
  readonly #catalog: Looks;
  readonly #catchUp: () => void;
  readonly #onRetired: (folder: string) => void;
  readonly #log: Log;
  readonly #watches = new FolderWatches((path) => this.#onChange(path));
  #ticks: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  #round: Iterator<Look> | undefined;
  #isRoundDue = true;
  /** True when a folder of this round cannot be watched. */
  #isBlind = false;
  /** Checks that found a change in the last tick and must confirm it. */
  #again: Look[] = [];
  /** Folders with a notification since the last tick, and newly watched folders. */
  readonly #touched = new Set<string>();

  constructor(options: {
    catalog: Looks;
    /** Reads the changes that other daemons reported, including changes that a check cannot detect. */
    catchUp: () => void;
    /** Called with a folder whose content differs from the catalog. */
    onRetired: (folder: string) => void;
    log: Log;
  }) {
    this.#catalog = options.catalog;
    this.#catchUp = options.catchUp;
    this.#onRetired = options.onRetired;
    this.#log = options.log;
    this.#wake();
  }

  close(): void {
    clearInterval(this.#ticks);
    clearTimeout(this.#rest);
    this.#watches.close();
  }

  #onChange(path: string): void {
    this.#touched.add(path);
    this.#isRoundDue = true;
    this.#wake();
  }

  #wake(): void {
    clearTimeout(this.#rest);
    this.#ticks ??= setInterval(() => this.#tick(), tickMs).unref();
  }

  #sleep(): void {
    clearInterval(this.#ticks);
    this.#ticks = undefined;
    this.#rest = setTimeout(() => {
      this.#isRoundDue = true;
      this.#wake();
    }, restMs).unref();
  }

  #tick(): void {
    const stopAt = performance.now() + longestTickMs;
    if (this.#again.length > 0) this.#catchUp();
    for (const look of this.#again.splice(0)) this.#take(look, true);
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const path of touched) {
      const look = this.#catalog.lookAt(path);
      if (look) this.#take(look, false);
    }
    this.#goOn(stopAt);
    if (!this.#round && !this.#isRoundDue && this.#again.length === 0 && this.#touched.size === 0) this.#sleep();
  }

  /** Runs a part of the current round, until `stopAt`. */
  #goOn(stopAt: number): void {
    if (!this.#round && this.#isRoundDue) {
      this.#round = this.#catalog.looks();
      this.#isRoundDue = false;
      this.#isBlind = false;
    }
    const share = Math.min(Math.ceil(this.#catalog.lookCount / ticksPerRound), mostLooksPerTick);
    for (let count = 0; this.#round && count < share && performance.now() < stopAt; count += 1) {
      const next = this.#round.next();
      if (next.done) {
        this.#round = undefined;
        this.#isRoundDue ||= this.#isBlind;
      } else this.#take(next.value, false);
    }
  }

  #take(look: Look, isSure: boolean): void {
    try {
      const retired = look.take(isSure);
      if (retired === undefined) this.#again.push(look);
      else {
        for (const folder of retired) this.#onRetired(folder);
        // The changed folder can contain new folders that are not watched yet.
        if (isSure) this.#isRoundDue = true;
        this.#watch(look);
      }
    } catch (error) {
      this.#log.warn({ err: error }, "a folder of workers could not be read");
    }
  }

  #watch(look: Look): void {
    const folders = look.watchable();
    if (!folders) this.#isBlind = true;
    for (const folder of folders ?? []) {
      const state = this.#watches.watch(folder, look.path);
      if (state === "impossible") this.#isBlind = true;
      // The folder can have changed between the check and the start of the watch.
      if (state === "begun") this.#touched.add(look.path);
    }
  }
}

/** Receives notifications of the kernel about folders. After a notification, the folder must be watched again. */
class FolderWatches {
  readonly #onChange: (owner: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();

  /** `onChange` receives the owner of the changed folder. */
  constructor(onChange: (owner: string) => void) {
    this.#onChange = onChange;
  }

  /**
   * Starts to watch a folder. Returns "impossible" for a missing folder, for a network file system, and when the kernel's limit of watches
   * is reached.
   */
  watch(folder: string, owner: string): "begun" | "kept" | "impossible" {
    if (this.#watchers.has(folder)) return "kept";
    try {
      if (!localFileSystems.has(statfsSync(folder).type)) return "impossible";
      const watcher = watch(folder, { persistent: false });
      const end = (): void => this.#end(folder, owner);
      watcher.once("change", end).once("error", end);
      this.#watchers.set(folder, watcher);
      return "begun";
    } catch {
      return "impossible";
    }
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #end(folder: string, owner: string): void {
    this.#watchers.get(folder)?.close();
    if (this.#watchers.delete(folder)) this.#onChange(owner);
  }
}
