import { statfsSync, watch, type FSWatcher } from "node:fs";

/** Magic numbers of file systems whose every change the kernel of this machine makes, hence tells of (statfs(2)): ext, XFS, Btrfs, ZFS, F2FS, tmpfs, overlayfs. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0x01021994, 0x794c7630]);

/** Notifications of the kernel for folders: one for each folder, which is then watched no more until it is asked for again. */
export class FolderWatches {
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
