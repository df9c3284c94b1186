import { constants } from "node:os";
import { spawnProcess } from "./spawner/spawn.js";
import type { SpawnedProcess } from "./spawner/spawned-process.js";
import { findSystemTool } from "./system-tool.js";
import { removeTree } from "./remove-tree.js";
import { lowerPriority } from "./process-priority.js";

/**
 * Deletes large folders one after the other, each by a `rm` of low priority: 10,000 deletions in our own threads would hold up
 * whatever else reads the disk. What is not deleted when it closes is left to the next start.
 */
export class TreeRemover {
  readonly #program = findSystemTool("rm");
  #last: Promise<void> = Promise.resolve();
  #removal: SpawnedProcess | undefined;
  #isClosed = false;

  /** Settles when the folder is gone, when that failed, or when we close. */
  remove(folder: string): Promise<void> {
    const removing = this.#last.then(() => (this.#isClosed ? undefined : this.#removeNow(folder)));
    this.#last = removing.catch(() => undefined);
    return removing;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#removal?.kill();
    await this.#last;
  }

  async #removeNow(folder: string): Promise<void> {
    if (this.#program !== undefined && (await this.#run(this.#program, folder))) return;
    if (!this.#isClosed) await removeTree(folder);
  }

  /** Returns whether the program came to its end without fault. */
  async #run(file: string, folder: string): Promise<boolean> {
    const removal = await spawnProcess({ file, args: ["-rf", "--", folder], workingDirectory: "/", descriptors: [] }).catch(
      () => undefined,
    );
    if (!removal) return false;
    this.#removal = removal;
    lowerPriority(removal.pid, constants.priority.PRIORITY_LOW);
    if (this.#isClosed) removal.kill();
    return (await removal.ended).status === 0;
  }
}
