import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Gives a process that yielded, with all threads that it has by now, the niceness of this one. */
export function restorePriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    const niceness = getPriority();
    // First the thread that starts others, which have its niceness from then on.
    setPriority(pid, niceness);
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), niceness);
  } catch {
    // It has ended.
  }
}
