import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes that a process has started and that are there. */
export function childProcessesOf(parent: number): number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => parentOf(id) === parent).map(Number);
}

/** Ids of the processes that a daemon's spawner has started for it and that are there: isolates, and what unpacks or deletes. */
export function spawnedBy(daemon: number): number[] {
  const spawners = childProcessesOf(daemon).filter((id) => commandOf(id).includes("spawner/main.js"));
  return spawners.flatMap(childProcessesOf);
}

/** Empty when the process is gone by now. */
export function commandOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** Undefined when the process is gone by now. */
function parentOf(id: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
