import { readFileSync, readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** The bit of the capability CAP_SYS_NICE (capabilities(7)). */
const niceCapability = 1n << 23n;

/** Sets the niceness of a process and all its threads. Has no effect if the process has exited or the system denies the change. */
export function lowerPriority(pid: number, niceness: number): void {
  setPriorityOfThreads(pid, niceness);
}

/** Resets the niceness of a process and all its threads to the niceness of this process. */
export function restorePriority(pid: number | undefined): void {
  if (pid !== undefined) setPriorityOfThreads(pid, getPriority());
}

/**
 * Returns whether this process can raise a lowered priority again: with CAP_SYS_NICE, or within the limit of getrlimit(2) (`LimitNICE` in
 * systemd). Without both, a lowered priority is permanent.
 */
export function canRaisePriority(): boolean {
  try {
    if (hasCapability()) return true;
    const limit = /^Max nice priority\s+(\w+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    // Ignores this limit if the daemon runs as root, because its isolates then have other user ids, and the limit does not apply to them.
    return process.getuid?.() !== 0 && (limit === "unlimited" || Number(limit) >= 20 - getPriority());
  } catch {
    return false;
  }
}

function setPriorityOfThreads(pid: number, niceness: number): void {
  // Starts with the main thread, because new threads inherit the niceness of the thread that starts them.
  if (!trySetPriority(pid, niceness)) return;
  for (const thread of threadsOf(pid)) trySetPriority(thread, niceness);
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return []; // The process has exited, so it has no threads.
  }
}

/** Sets the niceness of one thread. Returns false if the process or thread has exited, or the system denies the change. */
function trySetPriority(id: number, niceness: number): boolean {
  try {
    setPriority(id, niceness);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns whether CAP_SYS_NICE applies to the host. Root in the user namespace of a container has all capabilities, but only inside the
 * container.
 */
function hasCapability(): boolean {
  const effective = /^CapEff:\s*(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  const users = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/).join(" ");
  return (BigInt(`0x${effective}`) & niceCapability) !== 0n && users === "0 0 4294967295";
}
