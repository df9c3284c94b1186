import type { Log } from "../log/log.js";
import { statfsSync, watch, type FSWatcher } from "node:fs";

const tickMs = 200;
const ticksPerRound = 8;
/** Maximum number of folders that the daemon checks in one tick of the timer. 100 checks take about 1 ms, so requests are not delayed. */
const mostLooksPerTick = 100;
/** Maximum time of one tick in ms. If the disk is slow, the next tick checks the remaining folders, so that requests are not delayed. */
const longestTickMs = 10;
/**
 * Pause between two checks of all folders while the kernel watches every folder. The checks find changes whose notification the kernel has
 * lost.
 */
const restMs = 30_000;

/** Types of file systems (`f_type` in statfs(2)) on which the kernel reports every change: ext, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630]);

/** The check of one folder in the worker catalog. It finds out whether the folder has changed on the disk. */
export interface Look {
  /** Path of the checked folder. */
  readonly path: string;
  /**
   * Checks the folder. Returns the folders of the versions that were changed or deleted. With `isSure: false`, returns undefined after a
   * change, so that a second call can confirm it.
   */
  take(isSure: boolean): string[] | undefined;
  /** Returns the folders whose kernel notifications replace this check. Returns undefined if notifications cannot replace this check. */
  watchable(): readonly string[] | undefined;
}

interface Looks {
  looks(): Iterator<Look>;
  /** Returns the check that finds changes of this folder on the disk. Returns undefined if the catalog does not contain the folder. */
  lookAt(path: string): Look | undefined;
  readonly lookCount: number;
}

/**
 * Finds changes of package folders on the disk within 2 s (4 s with 2,000 workers). Checks all folders after a notification of the kernel
 * and every 30 s. If the kernel cannot watch a folder, checks without a pause.
 */
export class CatalogPoll {
  readonly #catalog: Looks;
  readonly #onRetired: (folder: string) => void;
  readonly #log: Log;
  readonly #watches = new FolderWatches((path) => this.#onChange(path));
  #ticks: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  #round: Iterator<Look> | undefined;
  #isRoundDue = true;
  /** True if the kernel cannot watch one of the folders in the current scan. A scan checks each folder once. */
  #isBlind = false;
  /** Checks that found a change in the last tick. The next tick repeats them, because a change must be confirmed. */
  #again: Look[] = [];
  /** Folders for the next tick: the kernel has reported a change, or the daemon has just started to watch the folder. */
  readonly #touched = new Set<string>();

  constructor(options: {
    catalog: Looks;
    /** Called with the folder of each version that was changed or deleted. */
    onRetired: (folder: string) => void;
    log: Log;
  }) {
    this.#catalog = options.catalog;
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

  /**
   * Continues the current scan, or begins a scan that is due. Stops when this tick has checked its share of the folders, or at the time
   * `stopAt`.
   */
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
        // Requests a new scan, because the changed folder can contain new folders that the kernel does not watch yet.
        if (isSure) this.#isRoundDue = true;
        this.#watch(look);
      }
    } catch (error) {
      this.#log.warn({ err: error }, "a worker folder could not be read");
    }
  }

  #watch(look: Look): void {
    const folders = look.watchable();
    if (!folders) this.#isBlind = true;
    for (const folder of folders ?? []) {
      const state = this.#watches.watch(folder, look.path);
      if (state === "impossible") this.#isBlind = true;
      // Checks the folder once more, because it can have changed after the check and before the kernel watched it.
      if (state === "begun") this.#touched.add(look.path);
    }
  }
}

/**
 * Watches folders through notifications of the kernel. The first notification ends the watch of a folder, so the caller must start it
 * again.
 */
class FolderWatches {
  readonly #onChange: (owner: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();

  /** `onChange` receives the `owner` that the caller passed to `watch` together with the changed folder. */
  constructor(onChange: (owner: string) => void) {
    this.#onChange = onChange;
  }

  /**
   * Starts to watch a folder. Returns "impossible" if the folder is missing, if it is on a network file system, or if the kernel has
   * reached its limit of watches.
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
