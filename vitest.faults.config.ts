import { defineConfig } from "vitest/config";

/** Kills, full disks, damaged stores, jumps of the clock (faketime), and kills before each of the system calls that change the disk (strace). Takes minutes: no part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/faults/*.sweep.ts"],
    testTimeout: 60 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    // One daemon at a time: what is counted are its system calls.
    maxWorkers: 1,
    fileParallelism: false,
    server: { deps: { external: [/\/(build|dist)\//] } },
  },
});
