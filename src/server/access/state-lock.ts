import { chmodSync, closeSync, openSync } from "node:fs";
import path from "node:path";
import { ProcessLock } from "../platform/process-lock.js";

const privateMode = 0o600;

/** Lock on the state directory. The kernel releases the lock when the process exits. */
export class StateLock {
  readonly #lock: ProcessLock;

  /** Locks the state directory. Throws if another daemon holds the lock, or if the file system does not support locks. */
  constructor(stateDirectory: string) {
    const lock = take(path.join(stateDirectory, "lock.db"));
    if (!lock) {
      throw new Error(
        `Another runtimed uses the state directory ${stateDirectory}. Stop that daemon, or set RUNTIME_STATE_DIR to another directory.`,
      );
    }
    this.#lock = lock;
  }

  release(): void {
    this.#lock.release();
  }
}

function take(file: string): ProcessLock | undefined {
  try {
    closeSync(openSync(file, "a", privateMode));
    // Sets the mode of the lock file, because earlier versions created the file readable for other users.
    chmodSync(file, privateMode);
    return ProcessLock.take(file);
  } catch (cause) {
    throw new Error(
      `${file} cannot be locked (${(cause as Error).message}). Check that its disk works and has free space, and that runtimed has write permission. Then start runtimed again.`,
      { cause },
    );
  }
}
