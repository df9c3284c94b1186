import { readFileSync } from "node:fs";

/**
 * Bytes that V8 reserves for machine code in each of its isolates, as far as the kernel counts them as data: up to half a gigabyte, writable
 * from the start. Zero where the kernel does not count them and where /proc cannot be read. The daemon measures its own reservation, which
 * has the same size.
 */
export function countedCodeRangeBytes(): number {
  try {
    const areas = readFileSync("/proc/self/maps", "latin1").matchAll(/^([\da-f]+)-([\da-f]+) rwxp/gm);
    return [...areas].reduce((sum, [, start, end]) => sum + Number.parseInt(end as string, 16) - Number.parseInt(start as string, 16), 0);
  } catch {
    return 0;
  }
}
