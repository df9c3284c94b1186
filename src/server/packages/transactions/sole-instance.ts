import { existsSync } from "node:fs";
import { ProcessLock } from "../../platform/process-lock.js";
import { InstanceMarks } from "./instance-marks.js";
import { instancesPaths, newInstanceName, prepareLock } from "./instances-paths.js";

/** Whether a daemon has a directory of packages open. */
function isInUse(directory: string): boolean {
  const { folder } = instancesPaths(directory);
  const marks = new InstanceMarks({ folder, instance: newInstanceName() });
  return marks.others().some((instance) => marks.isAlive(instance));
}

/** Has a directory of packages open while no daemon does; one that starts meanwhile knows that it is not alone. */
export class SoleInstance {
  readonly #marks: InstanceMarks;

  /** Undefined when a daemon has it open. Makes what is missing for that; `onMade` is told of each path. */
  static enter(directory: string, onMade: (made: readonly string[]) => void): SoleInstance | undefined {
    const { folder, lockFile } = instancesPaths(directory);
    if (!existsSync(lockFile)) {
      prepareLock(directory);
      onMade([folder, lockFile]);
    }
    const lock = ProcessLock.take(lockFile);
    try {
      if (!lock || isInUse(directory)) return undefined;
      const marks = new InstanceMarks({ folder, instance: newInstanceName() });
      marks.join();
      return new SoleInstance(marks);
    } finally {
      lock?.release();
    }
  }

  private constructor(marks: InstanceMarks) {
    this.#marks = marks;
  }

  leave(): void {
    this.#marks.leave();
  }
}
