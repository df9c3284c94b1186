import { constants } from "node:os";
import { canRaisePriority, lowerPriority, restorePriority } from "../../platform/process-priority.js";
import type { IsolateProcess } from "./isolate-process.js";

const mayYield = canRaisePriority();

/** One blank isolate on its way. It yields the processor to whoever is served, until somebody waits for it. */
export class BlankStart {
  /** Resolves when it is ready; rejects when it cannot be started. */
  readonly isolate: Promise<IsolateProcess>;
  #pid: number | undefined;
  #isAwaited = false;

  constructor(spawn: () => Promise<IsolateProcess>) {
    this.isolate = this.#start(spawn);
  }

  /** Somebody waits for it. */
  hasten(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    if (mayYield) restorePriority(this.#pid);
  }

  async #start(spawn: () => Promise<IsolateProcess>): Promise<IsolateProcess> {
    const isolate = await spawn();
    this.#pid = isolate.pid;
    if (mayYield && !this.#isAwaited) lowerPriority(this.#pid, constants.priority.PRIORITY_LOW);
    await isolate.blank;
    this.hasten();
    return isolate;
  }
}
