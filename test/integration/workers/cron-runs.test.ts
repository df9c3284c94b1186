import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiError } from "../../../src/shared/api-error.js";
import type { Client } from "../../../src/shared/client.js";
import type { CronJob } from "../../../src/shared/contract/cron.js";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Responds by path. `/held` responds after a client has requested `/release`, `/late` after 2.5 s. */
const code = `
let release;
const held = new Promise((resolve) => (release = resolve));
export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/broken") return new Response("no", { status: 500 });
  if (pathname === "/throws") throw new Error("no database");
  if (pathname === "/hangs") await new Promise(() => setInterval(() => {}, 1000));
  if (pathname === "/held") await held;
  if (pathname === "/late") await new Promise((resolve) => setTimeout(resolve, 2500));
  if (pathname === "/release") release();
  return new Response("done");
} };`;

let daemon: TestDaemon;
let root: Client;
beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});
afterAll(() => daemon.dispose());

const never = "0 0 1 1 *";
const everySecond = "* * * * * *";
type Entry = readonly [schedule: string, endpoint: string];

async function install(name: string, jobs: readonly Entry[], version = "1.0.0"): Promise<void> {
  const cron = jobs.map(([schedule, endpoint]) => ({ schedule, endpoint, method: "GET" }));
  const manifest = JSON.stringify({ name, version, timeout: "20s", cron });
  await root.workers.upload({ file: uploadOf("app.tgz", await packFiles({ "manifest.yaml": manifest, "index.js": code })) });
}

const jobsOf = (worker: string) => root.cron.list({ query: { worker } });
const jobOf = async (worker: string, index = 0) => (await jobsOf(worker))[index] as CronJob;
const run = async (name: string, index = 0) => (await root.cron.run({ params: { scope: "_", name, index: String(index) } })).data;
const codeOf = async (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: ApiError) => error.code,
  );
const nowSeconds = () => Math.floor(Date.now() / 1000);

async function restartDaemon(end: "stop" | "kill"): Promise<void> {
  await daemon[end]();
  daemon = await startDaemon({ directory: daemon.directory });
  root = connect(daemon.url, daemon.rootKey);
}

describe("a cron job", () => {
  test("is listed with its next run before its first run", async () => {
    await install("waiting", [[never, "/job"]]);

    const january = Date.UTC(new Date().getUTCFullYear() + 1, 0, 1) / 1000;
    expect(await jobsOf("waiting")).toEqual([
      {
        worker: "waiting",
        version: "1.0.0",
        index: 0,
        schedule: never,
        method: "GET",
        on: "one",
        endpoint: "/job",
        nextRun: january,
        isRunning: false,
        lastRun: null,
        runs: [],
      },
    ]);
    expect((await root.cron.list()).find(({ worker }) => worker === "waiting")).not.toHaveProperty("runs");
    expect(await jobsOf("unknown")).toEqual([]);
  });

  test("is listed with its newest run first, and with time, status and version per run", async () => {
    await install("ticking", [[everySecond, "/job"]]);

    const okRuns = async () => ((await jobOf("ticking")).runs ?? []).filter(({ outcome }) => outcome === "ok");
    await expect.poll(async () => (await okRuns()).length, { timeout: 20_000 }).toBeGreaterThan(1);
    const { runs = [], lastRun } = await jobOf("ticking");
    expect(lastRun).toEqual({
      at: expect.any(Number),
      durationMs: expect.any(Number),
      status: 200,
      outcome: "ok",
      trigger: "schedule",
      version: "1.0.0",
    });
    expect(runs).toContainEqual(lastRun);
    expect(runs.map(({ at }) => at)).toEqual(runs.map(({ at }) => at).toSorted((one, other) => other - one));
    await root.workers.remove({ params: { scope: "_", name: "ticking" } });
  });

  test.each([
    ["returns 500", "/broken", 500, "The worker responded with status 500."],
    ["throws", "/throws", 502, expect.stringContaining("The worker failed to handle the request.")],
  ])("is listed with the status and the reason of a failed run when the worker %s", async (_, endpoint, status, error) => {
    await install("failing", [[never, endpoint]]);

    expect(await run("failing")).toMatchObject({ outcome: "failed", status, error });
    expect((await jobOf("failing")).lastRun).toMatchObject({ outcome: "failed", status, error, trigger: "manual" });
  });

  test("is listed with at most 50 runs", async () => {
    await install("frequent", [[never, "/job"]]);

    for (let count = 0; count < 52; count += 1) await run("frequent");

    expect((await jobOf("frequent")).runs).toHaveLength(50);
  });

  test("is listed with one skipped run while a long run continues", async () => {
    await install("slow", [[everySecond, "/held"]]);
    await expect.poll(async () => (await jobOf("slow")).runs, { timeout: 10_000 }).toHaveLength(1);

    const { runs, isRunning, lastRun } = await jobOf("slow");
    expect({ isRunning, lastRun }).toEqual({ isRunning: true, lastRun: null });
    expect(runs?.[0]).toMatchObject({ outcome: "skipped", durationMs: null, status: null, error: "The previous run has not finished." });
    await fetch(`${daemon.url}/slow/release`);
    await expect.poll(async () => (await jobOf("slow")).lastRun, { timeout: 10_000 }).toMatchObject({ outcome: "ok" });
    await root.workers.remove({ params: { scope: "_", name: "slow" } });
  });
});

describe("a manual run of a cron job", () => {
  test("is rejected with CRON_JOB_RUNNING while another run of the job continues", async () => {
    await install("twice", [[never, "/held"]]);
    const first = run("twice");
    await expect.poll(async () => (await jobOf("twice")).isRunning).toBe(true);

    expect(await codeOf(run("twice"))).toBe("CRON_JOB_RUNNING");

    expect((await jobOf("twice")).runs).toEqual([]);
    await fetch(`${daemon.url}/twice/release`);
    expect(await first).toMatchObject({ outcome: "ok", status: 200, trigger: "manual", by: "root" });
    expect((await jobOf("twice")).runs).toHaveLength(1);
  });

  test("starts exactly once when two calls arrive at the same time", async () => {
    await install("raced", [[never, "/job"]]);

    const codes = await Promise.all([codeOf(run("raced")), codeOf(run("raced"))]);

    expect(new Set(codes)).toEqual(new Set([undefined, "CRON_JOB_RUNNING"]));
    expect((await jobOf("raced")).runs).toHaveLength(1);
  });

  test("causes an audit entry with the worker and the index of the job", async () => {
    await install("audited", [[never, "/job"]]);

    await run("audited");
    expect(await codeOf(run("audited", 1))).toBe("CRON_JOB_NOT_FOUND");
    expect(await codeOf(run("missing"))).toBe("WORKER_NOT_FOUND");

    const { entries } = await root.audit.list({ query: { action: "worker.cron-run", limit: 3 } });
    expect(entries.map(({ outcome, code: error, subject }) => ({ outcome, error, subject }))).toEqual([
      { outcome: "done", error: undefined, subject: { name: "audited", cronIndex: 0 } },
      { outcome: "failed", error: "CRON_JOB_NOT_FOUND", subject: { name: "audited", cronIndex: 1 } },
      { outcome: "failed", error: "WORKER_NOT_FOUND", subject: { name: "missing", cronIndex: 0 } },
    ]);
  });
});

describe("the runs of a cron job", () => {
  test.each(["stop", "kill"] as const)("are still listed after a restart of the daemon (end of the daemon: %s)", async (end) => {
    await install(`kept-${end}`, [[never, "/job"]]);
    await run(`kept-${end}`);
    const { runs } = await jobOf(`kept-${end}`);

    await restartDaemon(end);

    expect(runs).toHaveLength(1);
    expect((await jobOf(`kept-${end}`)).runs).toEqual(runs);
  });

  test("contain a failed run when the daemon is killed during the run", async () => {
    await install("interrupted", [[never, "/hangs"]]);
    const began = nowSeconds();
    const call = codeOf(run("interrupted")).catch(() => undefined);
    await expect.poll(() => root.isolates.list({ query: { worker: "interrupted" } }), { timeout: 5000 }).toMatchObject([{ inFlight: 1 }]);

    await restartDaemon("kill");
    await call;

    const { lastRun, isRunning } = await jobOf("interrupted");
    expect(isRunning).toBe(false);
    expect(lastRun).toMatchObject({ outcome: "failed", durationMs: null, status: null, error: "The daemon stopped during the run." });
    expect(lastRun?.at).toBeGreaterThanOrEqual(began);
  });

  test("are read from a file even if its last line is incomplete", async () => {
    await install("torn", [[never, "/job"]]);
    await run("torn");
    const { runs } = await jobOf("torn");
    await daemon.kill();
    const file = path.join(daemon.directory, "state", "cron-runs.jsonl");
    await writeFile(file, `${await readFile(file, "utf8")}{"worker":"torn","job":"GET /j`);

    await restartDaemon("kill");
    await run("torn");
    await restartDaemon("kill");

    expect((await jobOf("torn")).runs?.slice(1)).toEqual(runs);
  });

  test("remain when a new version changes the schedule and the position of the job", async () => {
    await install("changed", [[never, "/job"]]);
    await run("changed");
    const { runs, nextRun } = await jobOf("changed");

    await install(
      "changed",
      [
        [never, "/other"],
        ["0 0 1 6 *", "/job"],
      ],
      "2.0.0",
    );

    const [other, job] = await jobsOf("changed");
    expect(other).toMatchObject({ endpoint: "/other", runs: [] });
    expect(job).toMatchObject({ version: "2.0.0", index: 1, schedule: "0 0 1 6 *", runs });
    expect(job?.nextRun).not.toBe(nextRun);
  });

  test.each([
    ["before", "/job"],
    ["after", "/late"],
  ])("are deleted together with the worker, even if a run ends %s the deletion", async (order, endpoint) => {
    const name = `deleted-${order}`;
    await install(name, [[never, endpoint]]);
    const ended = run(name);
    if (order === "before") await ended;
    else await expect.poll(() => root.isolates.list({ query: { worker: name } }), { timeout: 5000 }).toMatchObject([{ inFlight: 1 }]);

    await root.workers.remove({ params: { scope: "_", name } });
    expect(await ended).toMatchObject({ outcome: "ok" });
    expect(await jobsOf(name)).toEqual([]);
    await install(name, [[never, endpoint]]);

    expect((await jobOf(name)).runs).toEqual([]);
    await restartDaemon("kill");
    expect((await jobOf(name)).runs).toEqual([]);
  });
});
