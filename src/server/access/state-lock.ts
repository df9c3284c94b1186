import path from "node:path";
import { ProcessLock } from "../process-lock.js";

/** Holds the state directory for this process; the kernel frees it when the process ends, however it ends. */
export class StateLock {
  readonly #lock: ProcessLock;

  /** Throws when another daemon holds the directory. */
  constructor(stateDirectory: string) {
    const lock = ProcessLock.take(path.join(stateDirectory, "lock.db"));
    if (!lock) {
      throw new Error(
        `Another runtimed uses the state directory ${stateDirectory}. Stop it, or set RUNTIME_STATE_DIR to another directory.`,
      );
    }
    this.#lock = lock;
  }

  release(): void {
    this.#lock.release();
  }
}
