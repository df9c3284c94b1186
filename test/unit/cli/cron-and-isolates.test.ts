import { describe, expect, onTestFinished, test } from "vitest";
import { listedWorker, startFakeDaemon, WireAnswer } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

async function run(words: readonly string[], answers: Readonly<Record<string, unknown>>, isTerminal = false) {
  const daemon = await startFakeDaemon(answers);
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const result = await runInProcess([...words, "--url", daemon.url], { cwd: home, env, isTerminal, columns: 200 });
  return { ...result, requests: daemon.requests };
}

const failed = {
  at: 0,
  durationMs: 12,
  status: 500,
  outcome: "failed",
  error: "The worker responded with status 500.",
  trigger: "manual",
  by: "ann",
};
const job = {
  worker: "@team/shop",
  version: "1.0.0",
  index: 0,
  schedule: "0 0 1 1 *",
  method: "POST",
  endpoint: "/clean",
  on: "one",
  nextRun: 1_800_000_000,
  isRunning: false,
};

describe("runtimectl cron list", () => {
  test("prints one line per job with its next and last run", async () => {
    const jobs = [
      { ...job, lastRun: { ...failed, at: Math.floor(Date.now() / 1000) - 120 } },
      { ...job, index: 1, nextRun: null, isRunning: true, lastRun: null },
    ];

    expect((await run(["cron", "list"], { "/api/cron": jobs })).stdout).toBe(
      "@team/shop\t0\t0 0 1 1 *\tPOST /clean\t2027-01-15T08:00:00Z\tfailed 500\t2m ago\twaiting\n" +
        "@team/shop\t1\t0 0 1 1 *\tPOST /clean\t-\t-\t-\trunning\n",
    );
  });

  test("prints the runs of a worker in JSON and in a table", async () => {
    const answers = { "/api/cron": [{ ...job, lastRun: failed, runs: [failed] }] };

    const { stdout } = await run(["cron", "list", "@team/shop", "--json"], answers);
    expect(JSON.parse(stdout)).toEqual({ jobs: answers["/api/cron"] });
    const table = (await run(["cron", "list", "@team/shop"], answers, true)).stdout;
    expect(table).toContain("manual by ann");
    expect(table).toContain("The worker responded with status 500.");
  });

  test("prints the instance of each run, and why the runs of other instances are missing", async () => {
    const unknown = {
      at: 60,
      durationMs: null,
      status: null,
      outcome: "unknown",
      trigger: "schedule",
      instance: "eu-west-1",
      error: "eu-west-1 stopped.",
    };
    const problem = "The list has only the runs of this daemon.";

    const { stdout, stderr } = await run(
      ["cron", "list", "@team/shop"],
      { "/api/cron": [{ ...job, lastRun: unknown, runs: [unknown], problem }] },
      true,
    );

    expect(stdout).toMatch(/unknown +- +- +schedule +eu-west-1 +eu-west-1 stopped\./);
    expect(`${stdout}${stderr}`).toContain(problem);
  });

  test("rejects an invalid worker name without sending a request", async () => {
    const { status, requests } = await run(["cron", "list", "Shop!"], {});
    expect({ status, requests }).toEqual({ status: 2, requests: [] });
  });
});

describe("runtimectl cron run", () => {
  const path = "/api/workers/%40team/shop/cron/0/run";

  test("exits with 0 after a successful run, and with 1 after a failed run", async () => {
    const ok = { ...failed, outcome: "ok", status: 200, error: undefined };
    expect(await run(["cron", "run", "@team/shop", "0"], { [path]: { success: true, data: ok } })).toMatchObject({ status: 0 });
    const { status, stderr } = await run(["cron", "run", "@team/shop", "0"], { [path]: { success: true, data: failed } });
    expect(status).toBe(1);
    expect(stderr).toContain("The worker responded with status 500.");
  });

  test("exits with 7 when the job is already running", async () => {
    const answer = WireAnswer.refusal(409, "CRON_JOB_RUNNING", "The cron job is already running.");
    expect(await run(["cron", "run", "@team/shop", "0"], { [path]: answer })).toMatchObject({ status: 7 });
  });

  test.each(["-1", "first", "1.5", ""])("rejects the job number %j without sending a request", async (index) => {
    const { status, requests } = await run(["cron", "run", "@team/shop", "--", index], {});
    expect({ status, requests }).toEqual({ status: 2, requests: [] });
  });
});

describe("runtimectl isolates", () => {
  const isolate = {
    pid: 4711,
    worker: "@team/shop",
    version: "1.0.0",
    state: "running",
    startedAt: 0,
    requests: 7,
    inFlight: 1,
    rssBytes: 99,
    pssBytes: 41_943_040,
    cpuSeconds: 1.5,
    sockets: 2,
  };

  test("list prints PSS memory and CPU time of each process, one process per line", async () => {
    const shown = { ...isolate, startedAt: Math.floor(Date.now() / 1000) };
    expect((await run(["isolates", "list"], { "/api/isolates": [shown] })).stdout).toBe(
      "4711\t@team/shop\t1.0.0\trunning\tnow\t7\t1\t40.0 MB\t1.50 s\t2\n",
    );
  });

  test("stop prints the ID of the stopped process, and exits with 6 for an unknown one", async () => {
    const data = { pid: 4711, worker: "@team/shop", version: "1.0.0", state: "draining" };
    const stopped = await run(["isolates", "stop", "4711"], { "/api/isolates/4711/stop": { success: true, data } });
    expect(stopped).toMatchObject({ status: 0, stderr: expect.stringContaining("isolate 4711 of @team/shop@1.0.0") });
    const answer = WireAnswer.refusal(404, "ISOLATE_NOT_FOUND", "No isolate has the process id 1.");
    expect(await run(["isolates", "stop", "1"], { "/api/isolates/1/stop": answer })).toMatchObject({ status: 6 });
  });

  test.each(["0", "-1", "self", "1;2"])("stop rejects the process ID %j without sending a request", async (pid) => {
    const { status, requests } = await run(["isolates", "stop", "--", pid], {});
    expect({ status, requests }).toEqual({ status: 2, requests: [] });
  });
});

describe.each(["cron list", "isolates list", "workers stats"])("runtimectl %s NAME without rows", (command) => {
  const words = command.split(" ");
  const rows = { "/api/cron": [], "/api/isolates": [] };

  test("exits with 6 when the worker is not installed", async () => {
    const unknown = await run([...words, "shopp", "--json"], { ...rows, "/api/workers": [listedWorker("shop")] });
    expect(unknown).toMatchObject({ status: 6, stdout: "" });
    expect(JSON.parse(unknown.stderr)).toMatchObject({
      error: { code: "WORKER_NOT_FOUND", message: "no worker named shopp is installed" },
    });
  });

  test("exits with 0 when the worker is installed", async () => {
    expect(await run([...words, "shop"], { ...rows, "/api/workers": [listedWorker("shop")] })).toMatchObject({ status: 0, stdout: "" });
  });

  test("does not list the workers when the command names none", async () => {
    const { status, requests } = await run(words, rows);
    expect(status).toBe(0);
    expect(requests).not.toContain("GET /api/workers");
  });
});
