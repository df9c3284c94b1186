import { readFileSync } from "node:fs";

/** Length of one tick in /proc, which Linux fixes for programs. */
const tickMs = 10;

/** Returns the processor time of a process in ms. Returns 0 for a process that has ended. */
export function cpuMs(pid) {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ").slice(11, 13).map(Number);
    return (user + system) * tickMs;
  } catch {
    return 0;
  }
}

/** Returns the processor time of all programs on the machine in ms. */
export function machineCpuMs() {
  const [user, nice, system, , , irq, softIrq] = readFileSync("/proc/stat", "utf8").split("\n")[0].split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softIrq) * tickMs;
}
