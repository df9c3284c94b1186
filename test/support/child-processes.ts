import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes that a process has started and that are there. */
export function childProcessesOf(parent: number): number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => parentOf(id) === parent).map(Number);
}

/** Undefined when the process is gone by now. */
function parentOf(id: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
