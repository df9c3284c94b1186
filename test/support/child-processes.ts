import { readdirSync, readFileSync } from "node:fs";

/** Returns the ids of existing child processes of a process. */
export function childProcessesOf(parent: number): number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => parentOf(id) === parent).map(Number);
}

/** Returns the ids of existing processes that a daemon's spawner started: isolates, and processes that unpack or delete. */
export function spawnedBy(daemon: number): number[] {
  const spawners = childProcessesOf(daemon).filter((id) => commandOf(id).includes("spawner/main.js"));
  return spawners.flatMap(childProcessesOf);
}

/** Returns the command line of a process. Empty if the process has ended. */
export function commandOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** Returns the id of the parent process. Undefined if the process has ended. */
function parentOf(id: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
