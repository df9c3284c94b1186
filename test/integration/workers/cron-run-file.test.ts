import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { createLog } from "../../../src/server/log/log.js";
import { CronRuns } from "../../../src/server/workers/cron-runs.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const log = createLog({ level: "silent" });
const ok = { durationMs: 5, status: 200, outcome: "ok" } as const;

/** Runs a job once and returns when the run is in the file. */
async function runOnce(runs: CronRuns, worker: string, at: number, job = "GET /job"): Promise<void> {
  const { stored, end } = runs.historyOf(worker, job).begin({ at, trigger: "schedule", version: "1.0.0" });
  await stored;
  end(ok);
}

test("CronRuns reduces a large file to the newest 50 runs per job and sets mode 0600", async () => {
  const file = path.join(await temporaryDirectory(), "cron-runs.jsonl");
  const runs = await CronRuns.open({ file, log });
  for (let at = 0; at < 5000; at += 1) await runOnce(runs, at % 2 === 0 ? "one" : "other", at);
  await runs.close();

  const { size, mode } = await stat(file);
  expect(size).toBeLessThan(1024 * 1024 + 4096);
  expect(mode & 0o777).toBe(0o600);
  const again = await CronRuns.open({ file, log });
  for (const worker of ["one", "other"]) {
    expect(again.historyOf(worker, "GET /job").runs).toEqual(runs.historyOf(worker, "GET /job").runs);
    expect(again.historyOf(worker, "GET /job").runs).toHaveLength(50);
  }
});

test("CronRuns skips lines that are not runs, and accepts fields of a later version", async () => {
  const file = path.join(await temporaryDirectory(), "cron-runs.jsonl");
  const run = { at: 7, trigger: "schedule", durationMs: 1, status: 200, outcome: "ok", slot: "later" };
  const lines = [{ worker: "app", job: "GET /job", id: 3, run }, { worker: "app" }, { worker: "app", job: "GET /job", id: "4", run }];
  await writeFile(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnonsense\n\0\0\0\n`);

  const runs = await CronRuns.open({ file, log });
  await runOnce(runs, "app", 8);

  expect(runs.historyOf("app", "GET /job").runs.map(({ at }) => at)).toEqual([8, 7]);
});

test("CronRuns keeps runs in memory while it cannot write the file, then writes again", async () => {
  const directory = path.join(await temporaryDirectory(), "state");
  const file = path.join(directory, "cron-runs.jsonl");
  const runs = await CronRuns.open({ file, log });

  await runOnce(runs, "app", 1);
  await runs.close();
  expect(runs.historyOf("app", "GET /job").lastRun).toMatchObject({ at: 1, outcome: "ok" });
  await mkdir(directory);
  await runOnce(runs, "app", 2);
  await runs.close();

  expect((await CronRuns.open({ file, log })).historyOf("app", "GET /job").runs.map(({ at }) => at)).toEqual([2]);
});

test("CronRuns keeps the runs of at most 20 jobs that are not in the active version", async () => {
  const file = path.join(await temporaryDirectory(), "cron-runs.jsonl");
  const runs = await CronRuns.open({ file, log });
  for (let index = 0; index < 30; index += 1) await runOnce(runs, "app", index, `GET /${index}`);

  runs.keep("app", new Set(["GET /0"]));

  const kept = Array.from({ length: 30 }, (_, index) => runs.historyOf("app", `GET /${index}`).runs.length);
  expect(kept).toEqual([1, ...Array<number>(9).fill(0), ...Array<number>(20).fill(1)]);
});

test("CronRuns discards the runs of workers that are not installed", async () => {
  const file = path.join(await temporaryDirectory(), "cron-runs.jsonl");
  const runs = await CronRuns.open({ file, log });
  for (const worker of ["kept", "gone"]) await runOnce(runs, worker, 1);

  runs.retain((worker) => worker === "kept");
  await runs.close();

  const again = await CronRuns.open({ file, log });
  expect(["kept", "gone"].map((worker) => again.historyOf(worker, "GET /job").runs.length)).toEqual([1, 0]);
  expect(await readFile(file, "utf8")).toContain('"isDeleted":true');
  await rm(file);
});
