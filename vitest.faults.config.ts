import { defineConfig } from "vitest/config";

/** Kills the daemon before each of the system calls by which it changes the disk. Needs strace, and takes minutes: no part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/faults/*.sweep.ts"],
    testTimeout: 60 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    // One daemon at a time: what is counted are its system calls.
    maxWorkers: 1,
    fileParallelism: false,
    server: { deps: { external: [/\/dist\//] } },
  },
});
