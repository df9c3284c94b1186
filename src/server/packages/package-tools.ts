import type { ArchiveLimits } from "./archive/archive-entry.js";
import { ArchiveUnpacker } from "./archive/archive-unpacker.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { TreeRemover } from "../platform/remove-folder.js";

/** The unpacker and the remover that all kinds of packages share: the machine limits their concurrency. */
export class PackageTools {
  readonly unpacker: ArchiveUnpacker;
  readonly remover = new TreeRemover();
  /** Locks a path such as `/app` while a worker or plugin is installed there. */
  readonly paths = new KeyedLock();

  constructor(limits: ArchiveLimits) {
    this.unpacker = new ArchiveUnpacker(limits);
  }

  /** Stops running unpackers. Their callers fail and clean up. */
  stopUnpacking(): void {
    this.unpacker.close();
  }

  /** Call it after the services that use the tools. Remaining folders are deleted at the next start. */
  async close(): Promise<void> {
    this.stopUnpacking();
    await this.remover.close();
  }
}
