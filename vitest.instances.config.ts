import { defineConfig } from "vitest/config";

/** Several instances behind real proxies: they fail where nginx or Caddy is missing, and are no part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/instances/*.instances.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    // Each test runs up to seven servers, and measures times.
    maxWorkers: 1,
  },
});
