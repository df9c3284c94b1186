import type { Log } from "../log/log.js";
import { statfsSync, watch, type FSWatcher } from "node:fs";

const tickMs = 200;
const ticksPerRound = 8;
/** Maximum number of folder checks per timer tick, so that checks do not delay requests. 100 checks take about 1 ms. */
const mostLooksPerTick = 100;
/** Maximum duration of one timer tick, so that checks do not delay requests. The next tick checks the remaining folders. */
const longestTickMs = 10;
/**
 * Pause between two checks of the whole catalog while the kernel watches every folder. The checks are necessary because the kernel can lose
 * a notification.
 */
const restMs = 30_000;

/** File system types (`f_type` in statfs(2)) for which the kernel reports changes: ext, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630]);

/** A check that detects whether one folder in the worker catalog has changed on the disk. */
export interface Look {
  /** Path of the checked folder. */
  readonly path: string;
  /**
   * Checks the folder. Returns the folders of changed or deleted versions. Returns undefined if a second call with `isSure: true` must
   * confirm a change.
   */
  take(isSure: boolean): string[] | undefined;
  /** Returns the folders to watch in place of this check. Returns undefined if kernel notifications cannot replace the check. */
  watchable(): readonly string[] | undefined;
}

interface Looks {
  looks(): Iterator<Look>;
  /** Returns the check for a folder, or undefined if the catalog does not contain the folder. */
  lookAt(path: string): Look | undefined;
  readonly lookCount: number;
}

/**
 * Finds changes of package folders on the disk within 2 s (4 s with 2,000 workers). Checks the whole catalog after a kernel notification
 * and every 30 s, or without a pause if a folder cannot be watched.
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
  /** True if the current round checked a folder that the kernel cannot watch. */
  #isBlind = false;
  /** Checks that found a change in the last tick. The next tick repeats these checks to confirm the change. */
  #again: Look[] = [];
  /** Folders to check in the next tick: the kernel reported a change, or the watch has just started. */
  readonly #touched = new Set<string>();

  constructor(options: {
    catalog: Looks;
    /** Reads the changes that other daemons reported, including changes that a check cannot detect. */
    catchUp: () => void;
    /** Called with the folder of a version that was changed or deleted. */
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

  /** Checks the next folders of the current round. Stops at the time `stopAt` at the latest. */
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
        // Starts a new round of checks, because the changed folder can contain new folders that are not watched yet.
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
      // Checks the folder again, because it can have changed between the check and the start of the watch.
      if (state === "begun") this.#touched.add(look.path);
    }
  }
}

/** Watches folders for changes that the kernel reports. A notification ends the watch, so the caller must start it again. */
class FolderWatches {
  readonly #onChange: (owner: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();

  /** `onChange` receives the `owner` that was passed to `watch` for the changed folder. */
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
