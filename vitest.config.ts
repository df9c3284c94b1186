import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Waiting for an event must outlast a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // Two cores: more forks would only make daemons wait for each other.
    maxWorkers: 2,
    // What is built runs as Node runs it: vite's own import would load the code of plugins in another way.
    server: { deps: { external: [/\/(build|dist)\//] } },
  },
});
