import type { ArchiveLimits } from "./archive/archive-entry.js";
import { ArchiveUnpacker } from "./archive/archive-unpacker.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { TreeRemover } from "../platform/remove-folder.js";

/**
 * Unpacker, remover and locks of paths. Workers and plugins share them, because the limits of simultaneous work apply to the whole machine.
 */
export class PackageTools {
  readonly unpacker: ArchiveUnpacker;
  readonly remover = new TreeRemover();
  /** Locks a path such as `/app` while the daemon installs a worker or plugin with this path. */
  readonly paths = new KeyedLock();

  constructor(limits: ArchiveLimits) {
    this.unpacker = new ArchiveUnpacker(limits);
  }

  /** Kills the running unpacker processes. The interrupted installations fail and delete their staged files. */
  stopUnpacking(): void {
    this.unpacker.close();
  }

  /**
   * Stops the unpacker and the remover. The caller must first close the services that use them. The next start deletes the remaining
   * folders.
   */
  async close(): Promise<void> {
    this.stopUnpacking();
    await this.remover.close();
  }
}
