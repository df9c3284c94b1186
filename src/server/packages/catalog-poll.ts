import type { Log } from "../log/log.js";
import { statfsSync, watch, type FSWatcher } from "node:fs";

const tickMs = 200;
const ticksPerRound = 8;
/** About a millisecond. */
const mostLooksPerTick = 100;
/** A tick that finds much to read stops here and goes on at the next. */
const longestTickMs = 10;
/** How long nothing is looked at while every folder is watched: a notification can be lost. */
const restMs = 30_000;

/** Magic numbers of file systems whose every change the kernel of this machine makes, hence tells of (statfs(2)): ext, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630]);

/** A look at a part of the catalog. */
export interface Look {
  /** The folder that is looked at. */
  readonly path: string;
  /** Returns the folders that are no longer current; undefined when something has changed, and it is to look again, being sure then. */
  take(isSure: boolean): string[] | undefined;
  /** Folders, of which one changes whenever a look would find a change; undefined when that cannot be said. */
  watchable(): readonly string[] | undefined;
}

interface Looks {
  looks(): Iterator<Look>;
  /** Undefined when it is not in the catalog. */
  lookAt(path: string): Look | undefined;
  readonly lookCount: number;
}

/**
 * Finds what has changed on the disk within about two seconds, four with 2,000 workers. The kernel tells of changes in the folders; then,
 * and every 30 seconds, all of the catalog is looked at, a part of it every tick. Where a folder cannot be watched, looking never ends.
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
  /** A folder of this round cannot be watched. */
  #isBlind = false;
  /** What had changed at the last tick. */
  #again: Look[] = [];
  /** What the kernel has told of since the last tick, and what is watched since then. */
  readonly #touched = new Set<string>();

  constructor(options: {
    catalog: Looks;
    /** Follows what other instances say that they have changed, which is more than can be seen. */
    catchUp: () => void;
    /** A folder's content is no longer what the catalog said. */
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

  /** A part of the round. */
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
        // What was read may have led to folders that are not watched yet.
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
      // It may have changed between the look and the watch.
      if (state === "begun") this.#touched.add(look.path);
    }
  }
}

/** Notifications of the kernel for folders: one for each folder, which is then watched no more until it is asked for again. */
class FolderWatches {
  readonly #onChange: (owner: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();

  /** `onChange` gets the owner of a folder that has changed. */
  constructor(onChange: (owner: string) => void) {
    this.#onChange = onChange;
  }

  /** "impossible" for a folder that is missing or on a network file system, and when the kernel watches no more folders. */
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
