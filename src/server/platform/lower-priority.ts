import { setPriority } from "node:os";

/** Gives a process that has just been started, with all threads that it will have, a niceness. */
export function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended, or may not be slowed down: no reason not to go on.
  }
}
