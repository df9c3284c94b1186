import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { findSystemTool } from "../system-tool.js";
import { removeTree } from "./remove-tree.js";
import { yieldProcessor } from "../processor/yield-processor.js";

/**
 * Deletes large folders one after the other, each by a `rm` of low priority: 10,000 deletions in our own threads would hold up
 * whatever else reads the disk. What is not deleted when it closes is left to the next start.
 */
export class TreeRemover {
  readonly #program = findSystemTool("rm");
  #last: Promise<void> = Promise.resolve();
  #child: ChildProcess | undefined;
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
    this.#child?.kill("SIGKILL");
    await this.#last;
  }

  async #removeNow(folder: string): Promise<void> {
    if (this.#program !== undefined && (await this.#run(this.#program, folder))) return;
    if (!this.#isClosed) await removeTree(folder);
  }

  /** Answers whether the program came to its end without fault. */
  #run(program: string, folder: string): Promise<boolean> {
    return new Promise((resolve) => {
      const child = spawn(program, ["-rf", "--", folder], { env: {}, cwd: "/", stdio: "ignore" });
      this.#child = child;
      yieldProcessor(child.pid, constants.priority.PRIORITY_LOW);
      child.on("error", () => resolve(false));
      child.on("exit", (code) => resolve(code === 0));
    });
  }
}
