import { defineConfig } from "vitest/config";

/** Tests that need tools of systemd and strace: they fail where these are missing, and are no part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/systemd/*.systemd.ts"],
    testTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    maxWorkers: 2,
  },
});
