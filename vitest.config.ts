import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** Of what a project runs at once: two cores, and more processes would only make daemons wait for each other. */
const mostWorkers = 2;
/** Of projects whose tests wait for timers and processes for most of their time. */
const mostWaitingWorkers = 3;

type ProjectOptions = NonNullable<TestProjectInlineConfiguration["test"]>;

/** Tests that start real processes. Projects run one after the other in the order of `group`; those of one group share the workers. */
function project(name: string, group: number, include: string[], options: ProjectOptions = {}): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: { name, include, maxWorkers: mostWorkers, sequence: { groupOrder: group }, ...options },
  };
}

/** For hostile code, kills and slow machines. */
const longTestTimeout = 60_000;

/** Nothing else runs beside these: they count what a process uses, or load the machine. */
const alone: ProjectOptions = { maxWorkers: 1, fileParallelism: false, testTimeout: longTestTimeout };

/** Resilience tests that neither count resources of the machine nor load it. */
const recovery = [
  "test/resilience/{access,events,http,packages}/**/*.test.ts",
  "test/resilience/{hostile-files,hostile-plugin-archives,hostile-uploads,kernel-without-landlock,kill-daemon,lost-directories}.test.ts",
];

/** The tiers are described in CONTRIBUTING.md: `npm test`, `npm run test:all` and `npm run test:long` choose among these projects. */
export default defineConfig({
  test: {
    globalSetup: ["test/support/check-runtime.ts", "test/support/unpack-browser.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Waiting for an event must outlast a busy machine.
    expect: { poll: { timeout: 15_000 } },
    exclude: [...configDefaults.exclude, "test/fixtures/**"],
    // What is built runs as Node runs it: vite's own import would load the code of plugins in another way.
    server: { deps: { external: [/\/(build|dist)\//] } },
    projects: [
      project("unit", 0, ["test/unit/**/*.test.{ts,tsx}"], { pool: "threads", isolate: false }),
      project("integration", 1, ["test/integration/**/*.test.ts"], { maxWorkers: mostWaitingWorkers }),
      project("api", 1, ["test/api/**/*.test.ts"], {
        globalSetup: "test/support/start-shared-daemon.ts",
        maxWorkers: mostWaitingWorkers,
      }),
      project("security", 1, ["test/security/**/*.test.ts"], { maxWorkers: mostWaitingWorkers }),
      project("journeys", 1, ["test/e2e/journeys/*.test.ts"], { maxWorkers: mostWaitingWorkers }),
      project("e2e", 2, ["test/e2e/{cli,daemon,dashboard,docs,panel,plugins,packages,cluster}/**/*.test.ts"]),
      project("recovery", 2, recovery, { testTimeout: longTestTimeout }),
      project("resilience", 3, ["test/resilience/**/*.test.ts"], { ...alone, exclude: recovery }),
      project("systemd", 4, ["test/systemd/*.test.ts"], alone),
      project("boot", 4, ["test/boot/*.test.ts"], alone),
      project("proxies", 5, ["test/proxies/*.test.ts"], alone),
      project("frameworks", 6, ["test/frameworks/*.test.ts"], alone),
      project("sweeps", 6, ["test/{resilience/sweeps,proxies}/*.sweep.ts"], {
        ...alone,
        testTimeout: 60 * 60_000,
        expect: { poll: { timeout: 30_000 } },
      }),
    ],
  },
});
