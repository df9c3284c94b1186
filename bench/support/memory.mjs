import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Proportional set size of a process, in bytes: what it costs, shared pages divided among those that share them. */
export function pssBytes(pid) {
  return kilobytesOf(`/proc/${pid}/smaps_rollup`, "Pss");
}

export function rssBytes(pid) {
  return kilobytesOf(`/proc/${pid}/status`, "VmRSS");
}

/** The most memory that a process had since its mark was put back. */
export function peakRssBytes(pid) {
  return kilobytesOf(`/proc/${pid}/status`, "VmHWM");
}

/** Puts the mark of the peak back to what is in use now. */
export function resetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

export function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** What a daemon's spawner has started for it: isolates, and what unpacks or deletes. */
export function spawnedBy(pid) {
  return childrenOf(pid).flatMap(childrenOf);
}

function kilobytesOf(file, field) {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(file, "utf8"));
  if (!match) throw new Error(`${file} has no ${field}`);
  return Number(match[1]) * 1024;
}
