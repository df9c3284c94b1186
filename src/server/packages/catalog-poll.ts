import type { Log } from "../log/log.js";
import { statfsSync, watch, type FSWatcher } from "node:fs";

const tickMs = 200;
const ticksPerScan = 8;
/** Maximum number of folders that the daemon checks in one tick of the timer. 100 checks take about 1 ms, so requests are not delayed. */
const mostChecksPerTick = 100;
/** Maximum time of one tick in ms. If the disk is slow, the next tick checks the remaining folders, so that requests are not delayed. */
const longestTickMs = 10;
/**
 * Pause between two checks of all folders while the kernel watches every folder. The checks find changes whose notification the kernel has
 * lost.
 */
const pauseMs = 30_000;

/** Types of file systems (`f_type` in statfs(2)) on which the kernel reports every change: ext, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630]);

/** The check of one folder in the worker catalog. It finds out whether the folder has changed on the disk. */
export interface FolderCheck {
  /** Path of the checked folder. */
  readonly path: string;
  /**
   * Checks the folder. Returns the folders of the versions that were changed or deleted. With `isRecheck: false`, returns undefined after a
   * change, so that a second call can confirm it.
   */
  run(isRecheck: boolean): string[] | undefined;
  /** Returns the folders whose kernel notifications replace this check. Returns undefined if notifications cannot replace this check. */
  watchable(): readonly string[] | undefined;
}

interface CheckedCatalog {
  folderChecks(): Iterator<FolderCheck>;
  /** Returns the check that finds changes of this folder on the disk. Returns undefined if the catalog does not contain the folder. */
  folderCheckOf(path: string): FolderCheck | undefined;
  readonly folderCheckCount: number;
}

/**
 * Finds changes of package folders on the disk within 2 s (4 s with 2,000 workers). Checks all folders after a notification of the kernel
 * and every 30 s. If the kernel cannot watch a folder, checks without a pause.
 */
export class CatalogPoll {
  readonly #catalog: CheckedCatalog;
  readonly #onRetired: (folder: string) => void;
  readonly #log: Log;
  readonly #watches = new FolderWatches((path) => this.#onChange(path));
  #ticks: NodeJS.Timeout | undefined;
  #pauseTimer: NodeJS.Timeout | undefined;
  #scan: Iterator<FolderCheck> | undefined;
  #isScanDue = true;
  /** True if the kernel cannot watch one of the folders in the current scan. A scan checks each folder once. */
  #hasUnwatchable = false;
  /** Checks that found a change in the last tick. The next tick repeats them, because a change must be confirmed. */
  #rechecks: FolderCheck[] = [];
  /** Folders for the next tick: the kernel has reported a change, or the daemon has just started to watch the folder. */
  readonly #touched = new Set<string>();

  constructor(options: {
    catalog: CheckedCatalog;
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
    clearTimeout(this.#pauseTimer);
    this.#watches.close();
  }

  #onChange(path: string): void {
    this.#touched.add(path);
    this.#isScanDue = true;
    this.#wake();
  }

  #wake(): void {
    clearTimeout(this.#pauseTimer);
    this.#ticks ??= setInterval(() => this.#tick(), tickMs).unref();
  }

  #sleep(): void {
    clearInterval(this.#ticks);
    this.#ticks = undefined;
    this.#pauseTimer = setTimeout(() => {
      this.#isScanDue = true;
      this.#wake();
    }, pauseMs).unref();
  }

  #tick(): void {
    const stopAt = performance.now() + longestTickMs;
    for (const check of this.#rechecks.splice(0)) this.#run(check, true);
    const touched = [...this.#touched];
    this.#touched.clear();
    for (const path of touched) {
      const check = this.#catalog.folderCheckOf(path);
      if (check) this.#run(check, false);
    }
    this.#continueScan(stopAt);
    if (!this.#scan && !this.#isScanDue && this.#rechecks.length === 0 && this.#touched.size === 0) this.#sleep();
  }

  /**
   * Continues the current scan, or begins a scan that is due. Stops when this tick has checked its share of the folders, or at the time
   * `stopAt`.
   */
  #continueScan(stopAt: number): void {
    if (!this.#scan && this.#isScanDue) {
      this.#scan = this.#catalog.folderChecks();
      this.#isScanDue = false;
      this.#hasUnwatchable = false;
    }
    const share = Math.min(Math.ceil(this.#catalog.folderCheckCount / ticksPerScan), mostChecksPerTick);
    for (let count = 0; this.#scan && count < share && performance.now() < stopAt; count += 1) {
      const next = this.#scan.next();
      if (next.done) {
        this.#scan = undefined;
        this.#isScanDue ||= this.#hasUnwatchable;
      } else this.#run(next.value, false);
    }
  }

  #run(check: FolderCheck, isRecheck: boolean): void {
    try {
      const retired = check.run(isRecheck);
      if (retired === undefined) this.#rechecks.push(check);
      else {
        for (const folder of retired) this.#onRetired(folder);
        // Requests a new scan, because the changed folder can contain new folders that the kernel does not watch yet.
        if (isRecheck) this.#isScanDue = true;
        this.#watch(check);
      }
    } catch (error) {
      this.#log.warn({ err: error }, "a worker folder could not be read");
    }
  }

  #watch(check: FolderCheck): void {
    const folders = check.watchable();
    if (!folders) this.#hasUnwatchable = true;
    for (const folder of folders ?? []) {
      const state = this.#watches.watch(folder, check.path);
      if (state === "impossible") this.#hasUnwatchable = true;
      // Checks the folder once more, because it can have changed after the check and before the kernel watched it.
      if (state === "begun") this.#touched.add(check.path);
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
