import { expect, onTestFinished, test } from "vitest";
import { counts, listedWorker, startFakeDaemon, usualAnswers } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const silent = "It did not respond within 2 s.";
const warning = (values: string) => `warning: ${values} of eu-2 are missing: ${silent}\n`;
const noLatency = { count: 0, p50Ms: null, p90Ms: null, p99Ms: null, maximumMs: null };
const requests = { ...counts.requests, total: 7, perSecond: 0.5, failed: 2, inFlight: 1 };
const { daemon } = usualAnswers["/api/metrics.json"] as { daemon: object };
const metrics = {
  daemon,
  totals: { ...counts, requests },
  workers: [
    {
      ...counts,
      name: "shop",
      version: "1.0.0",
      kind: "module",
      requests,
      latency: { recent: { ...noLatency, windowSeconds: 60 }, sinceStart: noLatency },
    },
  ],
  instances: [
    { name: "eu-1", id: "id-1", daemon, totals: { ...counts, requests } },
    { name: "eu-2", id: "id-2", problem: silent },
  ],
};
const health = {
  name: "shop",
  version: "1.0.0",
  state: "failing",
  since: 1_800_000_000,
  reason: "It cannot start.",
  instance: "eu-3",
  instances: [
    { name: "eu-1", id: "id-1", version: "1.0.0", state: "ok", since: 1_800_000_000 },
    { name: "eu-3", id: "id-3", version: "1.0.0", state: "failing", since: 1_800_000_000, reason: "It cannot start." },
    { name: "eu-2", id: "id-2", problem: silent },
  ],
};
const hour = Date.UTC(2026, 0, 1, 12) / 1000;
const history = {
  stepSeconds: 60,
  points: {
    at: [hour + 60, hour + 3660],
    requests: [3, 4],
    failed: [0, 0],
    p50Ms: [null, null],
    p99Ms: [null, null],
    memoryBytes: [0, 0],
    cpuSeconds: [0, 0],
    isolates: [1, 1],
    incomplete: [false, true],
  },
  markers: [{ at: hour + 3605, type: "start", instance: "eu-1" }],
  instances: metrics.instances.map(({ name, id, problem }) => ({ name, id, ...(problem !== undefined && { problem }) })),
};
const answers = {
  "/api/metrics.json": metrics,
  "/api/workers": [listedWorker("shop")],
  "/api/workers/health": [health],
  "/api/metrics/history": history,
};

async function run(argv: readonly string[], isTerminal = false) {
  const fake = await startFakeDaemon(answers);
  onTestFinished(fake.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key", NO_COLOR: "1" };
  return runInProcess(["workers", ...argv, "--url", fake.url], { cwd: home, env, isTerminal, columns: 200 });
}

test("`workers stats` prints daemons and workers in a terminal, and lists missing data", async () => {
  const { stdout, stderr } = await run(["stats"], true);

  expect(stdout.split("\n").map((line) => line.split(/ {2,}/)[0])).toEqual(["INSTANCE", "eu-1", "eu-2", "", "NAME", "shop", ""]);
  expect(stdout).toMatch(/^eu-1 +0\.50 +1 +7 +2 +0 /m);
  expect(stderr).toContain(`metrics of eu-2 are missing: ${silent}`);
});

test("`workers stats` prints only workers in a pipe, and also daemons with --json", async () => {
  const { stdout, stderr } = await run(["stats"]);
  expect(stdout).toBe("shop\t1.0.0\t0.50\t-\t-\t7\t2\t0\t-\tfailing\n");
  expect(stderr).toBe(warning("metrics"));

  expect(JSON.parse((await run(["stats", "--json"])).stdout)).toEqual({ ...metrics, health: [health] });
});

test("`workers health` lists the daemons with a problem in the last column", async () => {
  const { stdout, stderr } = await run(["health"]);
  expect(stdout).toBe("shop\t1.0.0\tfailing\t2027-01-15T08:00:00Z\tIt cannot start.\t\teu-3\n");
  expect(stderr).toBe(warning("states"));
});

test("`workers health NAME` shows the state on each daemon", async () => {
  const { stdout } = await run(["health", "shop", "--plain"]);
  expect(stdout).toContain("on eu-1\t1.0.0 ok\non eu-3\t1.0.0 failing: It cannot start.\non eu-2\tno response\n");
});

test("`workers history` marks incomplete rows, and names the daemon of each start", async () => {
  const { stdout, stderr } = await run(["history"]);
  expect(stdout).toBe("2026-01-01 12:00 UTC\t3\t0\t-\t-\t-\t1\t\t\n2026-01-01 13:00 UTC\t4\t0\t-\t-\t-\t1\tstart eu-1\tyes\n");
  expect(stderr).toBe(warning("values"));
  expect((await run(["history"], true)).stdout).toMatch(/ISOLATES +INCOMPLETE +CHANGES/);
});
