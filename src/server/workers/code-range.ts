import { readFileSync } from "node:fs";

/**
 * What V8 reserves for machine code in each of its isolates, as far as the kernel counts it as data: it may be half a gigabyte that is
 * writable from the start, used or not. Zero where it is not, or cannot be told; ours is as large as any other.
 */
export function countedCodeRangeBytes(): number {
  try {
    const areas = readFileSync("/proc/self/maps", "latin1").matchAll(/^([\da-f]+)-([\da-f]+) rwxp/gm);
    return [...areas].reduce((sum, [, start, end]) => sum + Number.parseInt(end as string, 16) - Number.parseInt(start as string, 16), 0);
  } catch {
    return 0;
  }
}
