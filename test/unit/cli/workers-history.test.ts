import { expect, onTestFinished, test } from "vitest";
import { sparkline } from "../../../src/cli/output/sparkline.js";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const noon = Date.UTC(2026, 0, 1, 12) / 1000;
const history = {
  stepSeconds: 60,
  points: {
    at: [noon + 60, noon + 3600, noon + 3660],
    requests: [10, 20, 5],
    failed: [1, 0, 0],
    p50Ms: [4, 6, null],
    p99Ms: [40, 12, null],
    memoryBytes: [1_048_576, 2_097_152, 0],
    cpuSeconds: [0.1, 0.2, 0],
    isolates: [1, 2, 0],
  },
  markers: [
    { at: noon + 10, type: "deploy", version: "1.4.2", by: "ci" },
    { at: noon + 7300, type: "start" },
  ],
};

async function run(...argv: string[]) {
  const daemon = await startFakeDaemon({ "/api/metrics/history": history });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const result = await runInProcess(["workers", "history", ...argv, "--url", daemon.url], { cwd: home, env });
  return { ...result, requests: daemon.requests };
}

test("`workers history` prints one row per hour, with deployments and starts", async () => {
  const { stdout, requests } = await run("shop");

  expect(stdout).toBe(
    [
      "2026-01-01 12:00 UTC\t30\t1\t6.00 ms\t40 ms\t2.0 MB\t2\tdeploy 1.4.2 by ci",
      "2026-01-01 13:00 UTC\t5\t0\t-\t-\t-\t0\t",
      "2026-01-01 14:00 UTC\t0\t0\t-\t-\t-\t0\tstart",
      "",
    ].join("\n"),
  );
  expect(requests).toContain("GET /api/metrics/history");
});

test("`workers history` prints every interval as JSON", async () => {
  expect(JSON.parse((await run("--range", "14d", "--json")).stdout)).toEqual(history);
});

test.each([
  ["an unknown range", ["shop", "--range", "2h"]],
  ["an invalid name", ["Not a name"]],
])("`workers history` rejects %s without sending a request", async (_, argv) => {
  const { status, stdout, requests } = await run(...argv);

  expect({ status, stdout, requests }).toEqual({ status: 2, stdout: "", requests: [] });
});

test("a sparkline shows each value above 0, and adds up values that do not fit", () => {
  expect(sparkline([0, 1, 50, 100], 10)).toBe("▁▂▅█");
  expect(sparkline([1, 1, 0, 0, 4, 4], 3)).toBe("▃▁█");
  expect(sparkline([], 10)).toBe("");
  expect(sparkline([0, 0], 10)).toBe("▁▁");
});
