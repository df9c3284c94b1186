import type { ArchiveLimits } from "./archive/archive-entry.js";
import { ArchiveUnpacker } from "./archive/archive-unpacker.js";
import { KeyedLock } from "../platform/keyed-lock.js";
import { TreeRemover } from "../platform/remove-folder.js";

/** What unpacks and deletes, for all kinds of packages: how much of that is done at once is a matter of the machine. */
export class PackageTools {
  readonly unpacker: ArchiveUnpacker;
  readonly remover = new TreeRemover();
  /** Held by path, such as `/app`, while a worker or a plugin that would answer there is put in its place. */
  readonly paths = new KeyedLock();

  constructor(limits: ArchiveLimits) {
    this.unpacker = new ArchiveUnpacker(limits);
  }

  /** Ends what is being unpacked; those who wait for it give up and clean up. */
  stopUnpacking(): void {
    this.unpacker.close();
  }

  /** After the services that use them: what is not deleted yet goes at the next start. */
  async close(): Promise<void> {
    this.stopUnpacking();
    await this.remover.close();
  }
}
