import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Returns the proportional set size of a process in bytes. Pages that processes share are divided among these processes. */
export function pssBytes(pid) {
  return kilobytesOf(`/proc/${pid}/smaps_rollup`, "Pss");
}

export function rssBytes(pid) {
  return kilobytesOf(`/proc/${pid}/status`, "VmRSS");
}

/** Returns the maximum memory of a process in bytes since the last call of `resetPeak`. */
export function peakRssBytes(pid) {
  return kilobytesOf(`/proc/${pid}/status`, "VmHWM");
}

/** Sets the maximum of `peakRssBytes` to the memory that is in use now. */
export function resetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

export function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** Returns the processes that the daemon's spawner has started: isolates, and programs that unpack or delete. */
export function spawnedBy(pid) {
  return childrenOf(pid).flatMap(childrenOf);
}

function kilobytesOf(file, field) {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(file, "utf8"));
  if (!match) throw new Error(`${file} has no ${field}`);
  return Number(match[1]) * 1024;
}
