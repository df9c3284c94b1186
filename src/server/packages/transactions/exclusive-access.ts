import { existsSync } from "node:fs";
import { ProcessLock } from "../../platform/process-lock.js";
import { PeerRegistry } from "./peer-registry.js";
import { instancesPaths, newInstanceName, prepareLock } from "./instances-paths.js";

/** Whether a daemon has a directory of packages open. */
function isInUse(directory: string): boolean {
  const { folder } = instancesPaths(directory);
  const marks = new PeerRegistry({ folder, instance: newInstanceName() });
  return marks.others().some((instance) => marks.isAlive(instance));
}

/** Has a directory of packages open while no daemon does; one that starts meanwhile knows that it is not alone. */
export class ExclusiveAccess {
  readonly #marks: PeerRegistry;

  /** Undefined when a daemon has it open. Makes what is missing for that; `onMade` is told of each path. */
  static enter(directory: string, onMade: (made: readonly string[]) => void): ExclusiveAccess | undefined {
    const { folder, lockFile } = instancesPaths(directory);
    if (!existsSync(lockFile)) {
      prepareLock(directory);
      onMade([folder, lockFile]);
    }
    const lock = ProcessLock.take(lockFile);
    try {
      if (!lock || isInUse(directory)) return undefined;
      const marks = new PeerRegistry({ folder, instance: newInstanceName() });
      marks.join();
      return new ExclusiveAccess(marks);
    } finally {
      lock?.release();
    }
  }

  private constructor(marks: PeerRegistry) {
    this.#marks = marks;
  }

  leave(): void {
    this.#marks.leave();
  }
}
